#include "report/pages/card.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "report/figures/figure_style.h"
#include "report/figures/spec.h"
#include "report/pages/run_label.h"
#include "report/pages/shipped_cards.h"
#include "report/pages/study_page.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

constexpr const char* kRule =
    "the mean over seeds at the rate that is best on the validation split, measured on the test split";

std::optional<double> fraction_in(const Json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

const Json* test_of(const Json& card, std::string_view name) {
  for (const Json& test : card.at("tests"))
    if (test.at("name") == name) return &test;
  return nullptr;
}

std::string window_text(const Json& window) {
  if (window.is_null()) return "none";
  const bool open = window.at("reaches_lowest").get<bool>() || window.at("reaches_highest").get<bool>();
  return fmt::format("{}{:.1f}", open ? "≥ " : "", window.at("decades").get<double>());
}

// Bars of the mixer in front of ticks of the others; a hollow circle where it was tested beyond its training.
Json profile_data(const Json& card, std::span<const Json> others) {
  Json data = Json::array();
  const auto add = [&](const Json& of, const char* role) {
    for (const Json& test : of.at("tests")) {
      const auto score = fraction_in(test.at("score"));
      if (!score) continue;
      data.push_back({{"test", test.at("name")},
                      {"mixer", of.at("mixer")},
                      {"role", role},
                      {"score", 100 * *score},
                      {"chance", 100 * test.at("chance").get<double>()}});
      const auto longer =
          test.at("extrapolation").is_null() ? std::nullopt : fraction_in(test.at("extrapolation").at("score"));
      if (longer) data.back()["longer"] = 100 * *longer;
    }
  };
  for (const Json& other : others)
    if (other.at("mixer") != card.at("mixer")) add(other, "other");
  add(card, "this");
  return data;
}

std::vector<std::string> test_names() {
  std::vector<std::string> names;
  for (const CardTest& test : card_tests()) names.emplace_back(test.name);
  return names;
}

Json test_axis() {
  return field("test", "nominal",
               {{"scale", {{"domain", test_names()}, {"padding", 0.25}}},
                {"axis", {{"title", nullptr}, {"labelAngle", -35}, {"labelLimit", 200}, {"ticks", false}}}});
}

}  // namespace

const std::vector<CardTest>& card_tests() {
  static const std::vector<CardTest> tests = {
      {"recall", "card/recall", "associations", 0.9, "/test/accuracy", "accuracy"},
      {"forgetting", "card/forgetting", "associations that change", 0.9, "/test/accuracy", "accuracy"},
      {"induction", "card/induction", "what followed", 0.9, "/test/accuracy", "accuracy"},
      {"copying", "card/copying", "order over time", 0.9, "/test/accuracy", "accuracy"},
      {"denoising", "card/denoising", "choosing what to keep", 0.9, "/test/accuracy", "accuracy"},
      {"tracking-solvable", "card/tracking-solvable", "a state that moves", 0.9, "/test/accuracy", "accuracy"},
      {"tracking-unsolvable", "card/tracking-unsolvable", "a state that moves, hard", 0.9, "/test/accuracy",
       "accuracy"},
      {"counting", "card/counting", "time", 0.92, "/phases/offset", "ends predicted"},
      {"parity", "card/parity", "a bit that flips", 0.9, "/test/accuracy", "accuracy"},
  };
  return tests;
}

std::vector<Json> shipped_cards(std::string_view scale) {
  std::vector<Json> cards;
  for (const ShippedCard& shipped : shipped_card_files()) {
    Json card = parse_json(shipped.text, shipped.name);
    if (card.at("version") == kCardVersion && card.at("scale") == scale) cards.push_back(std::move(card));
  }
  return cards;
}

Table card_table(const Json& card) {
  Table table{.columns = {{"test"},
                          {"score", Align::right},
                          {"chance", Align::right},
                          {"beyond training", Align::right},
                          {"window, decades", Align::right},
                          {"best rate", Align::right},
                          {"state", Align::right},
                          {"parameters", Align::right},
                          {"FLOPs/token", Align::right},
                          {"tokens/s", Align::right},
                          {"runs", Align::right}},
              .rows = {}};
  for (const Json& test : card.at("tests")) {
    const Json& longer = test.at("extrapolation");
    table.rows.push_back(
        {test.at("name"), percent(fraction_in(test.at("score"))), percent(fraction_in(test.at("chance"))),
         longer.is_null() ? "-"
                          : fmt::format("{} at {} {}", percent(fraction_in(longer.at("score"))),
                                        longer.at("axis").get<std::string>(), longer.at("value").get<std::int64_t>()),
         window_text(test.at("window")), format_rate(test.at("best_lr")), grouped(test.at("state").get<std::int64_t>()),
         grouped(test.at("parameters").get<std::int64_t>()),
         fmt::format("{:.3g}", test.at("flops_per_token").get<double>()),
         fmt::format("{:.3g}", test.at("tokens_per_second").get<double>()), std::to_string(test.at("runs").size())});
  }
  return table;
}

Table zoo_table(std::span<const Json> cards) {
  Table table{.columns = {{"mixer"}}, .rows = {}};
  for (const CardTest& test : card_tests()) table.columns.push_back({test.name, Align::right});
  for (const Json& card : cards) {
    std::vector<std::string> row{card.at("mixer")};
    for (const CardTest& test : card_tests()) {
      const Json* found = test_of(card, test.name);
      row.push_back(found ? percent(fraction_in(found->at("score"))) : "-");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json profile_figure(const Json& card, std::span<const Json> others) {
  const std::string mixer = card.at("mixer");
  Json figure = figure_head(
      fmt::format("What {} remembers", mixer),
      {fmt::format("{} scale, card version {}; {}", card.at("scale").get<std::string>(), kCardVersion, kRule),
       "bars: this mixer; ticks: mixers of the zoo; circles: beyond training; dotted: chance"});
  const Json x = test_axis(), y = percent_axis("score", "score, %");
  const auto ticks = [&](const char* name, const Json& mark, const char* condition) -> Json {
    Json where = x, height = y;
    height["field"] = name;
    return {
        {"transform", only(condition)},
        {"mark", mark},
        {"encoding", {{"x", where}, {"y", height}, {"tooltip", tooltip({{"mixer", "mixer"}, {"score", "score"}})}}}};
  };
  figure.update(
      {{"data", {{"values", profile_data(card, others)}}},
       {"width", {{"step", 52}}},
       {"height", 260},
       {"layer",
        Json::array(
            {ticks("score", {{"type", "bar"}, {"color", "#0072B2"}, {"opacity", 0.85}}, "datum.role === 'this'"),
             ticks("chance", {{"type", "tick"}, {"color", kInk}, {"strokeDash", {2, 2}}, {"thickness", 1.5}},
                   "datum.role === 'this'"),
             ticks("score", {{"type", "tick"}, {"color", "#555555"}, {"opacity", 0.6}, {"thickness", 1.5}},
                   "datum.role === 'other'"),
             ticks("longer",
                   {{"type", "point"}, {"color", "#D55E00"}, {"filled", false}, {"size", 60}, {"strokeWidth", 2}},
                   "datum.role === 'this' && isValid(datum.longer)")})}});
  return figure;
}

Json zoo_figure(std::span<const Json> cards) {
  Json data = Json::array();
  std::vector<std::string> mixers;
  for (const Json& card : cards) {
    mixers.push_back(card.at("mixer"));
    for (const Json& test : card.at("tests"))
      if (const auto score = fraction_in(test.at("score"))) {
        const double chance = test.at("chance").get<double>();
        data.push_back({{"mixer", card.at("mixer")},
                        {"test", test.at("name")},
                        {"score", 100 * *score},
                        {"text", fmt::format("{:.0f}", 100 * *score)},
                        {"above", std::clamp((*score - chance) / (1 - chance), 0.0, 1.0)}});
      }
  }
  Json figure = figure_head("What the mixers remember",
                            {fmt::format("score in per cent, card version {}; {}", kCardVersion, kRule),
                             "shade: how far it is from chance (white) to perfect"});
  const Json x = test_axis(),
             y = field("mixer", "nominal",
                       {{"scale", {{"domain", mixers}, {"padding", 0.08}}},
                        {"axis", {{"title", nullptr}, {"ticks", false}, {"domain", false}, {"labelLimit", 320}}}});
  const Json ink = {{"condition", {{"test", "datum.above > 0.55"}, {"value", "white"}}}, {"value", kInk}};
  figure.update(
      {{"data", {{"values", data}}},
       {"width", {{"step", 52}}},
       {"height", {{"step", 24}}},
       {"layer",
        Json::array({{{"mark", {{"type", "rect"}, {"cornerRadius", 2}}},
                      {"encoding",
                       {{"x", x},
                        {"y", y},
                        {"color", field("above", "quantitative",
                                        {{"scale", {{"domain", {0, 1}}, {"range", {"#F2F2F2", "#0072B2"}}}},
                                         {"legend", nullptr}})},
                        {"tooltip", tooltip({{"mixer", "mixer"}, {"test", "test"}, {"score", "score"}})}}}},
                     {{"mark", {{"type", "text"}, {"fontSize", 11}}},
                      {"encoding", {{"x", x}, {"y", y}, {"text", field("text", "nominal")}, {"color", ink}}}}})}});
  return figure;
}

ReportPage card_page(const Json& card, std::span<const Json> others) {
  const std::string mixer = card.at("mixer");
  ReportPage page{.title = fmt::format("Report card of {}", mixer),
                  .summary = "What it can remember, by a fixed battery of small tests; docs/card.md has its limits.",
                  .facts = {{"Scale", card.at("scale")},
                            {"Version", std::to_string(kCardVersion)},
                            {"Score", kRule},
                            {"Window", "rates at which at least two of three seeds solve the test"}},
                  .sections = {},
                  .footer = page_footer()};
  ReportSection& first = page.sections.emplace_back();
  first.figures.push_back({"card", profile_figure(card, others), "The profile, against mixers that ship with Mneme."});
  first.tables.push_back({"Tests", card_table(card), "", false, "card"});
  std::vector<Json> all(others.begin(), others.end());
  std::erase_if(all, [&](const Json& other) { return other.at("mixer") == mixer; });
  all.insert(all.begin(), card);
  if (all.size() > 1) {
    ReportSection& second = page.sections.emplace_back();
    second.figures.push_back({"zoo", zoo_figure(all), ""});
    second.tables.push_back({"Scores", zoo_table(all), "", true, "zoo"});
  }
  return page;
}

ReportPage zoo_page(std::span<const Json> cards) {
  ReportPage page{
      .title = "Report cards of the zoo",
      .summary = "What each mixer can remember, by a fixed battery of small tests; docs/card.md has its limits.",
      .facts = {{"Version", std::to_string(kCardVersion)}, {"Score", kRule}},
      .sections = {},
      .footer = page_footer()};
  ReportSection& first = page.sections.emplace_back();
  first.figures.push_back({"zoo", zoo_figure(cards), ""});
  first.tables.push_back({"Scores", zoo_table(cards), "", false, "zoo"});
  for (const Json& card : cards) {
    ReportSection& section = page.sections.emplace_back();
    section.title = card.at("mixer");
    section.tables.push_back({"Tests", card_table(card), "", true, ""});
  }
  return page;
}

}  // namespace mneme::report
