#include <fmt/format.h>

#include "core/text.h"
#include "report/figures/figure_style.h"
#include "report/figures/spec.h"
#include "report/pages/card.h"
#include "report/pages/study_page.h"

namespace mneme::report {
namespace {

constexpr const char* kRule =
    "the mean over seeds at the rate that is best on the validation split, measured on the test split";
constexpr const char* kWindow = "rates at which at least two of three seeds solve the test";
// Narrow enough to be read on a phone, where a page is scaled to fit.
constexpr int kColumn = 34, kRow = 22;

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

Json test_axis() {
  std::vector<std::string> names;
  for (const CardTest& test : card_tests()) names.emplace_back(test.name);
  return field("test", "nominal",
               {{"scale", {{"domain", names}, {"padding", 0.15}}},
                {"axis", {{"title", nullptr}, {"labelAngle", -45}, {"labelLimit", 200}, {"ticks", false}}}});
}

// One cell a mixer and test; `pick` gives its score, or null.
Json zoo_data(std::span<const Json> cards, const Json& (*pick)(const Json& test)) {
  Json data = Json::array();
  for (const Json& card : cards)
    for (const Json& test : card.at("tests"))
      if (const auto score = fraction_in(pick(test)))
        data.push_back({{"mixer", card.at("mixer")},
                        {"test", test.at("name")},
                        {"score", 100 * *score},
                        {"text", fmt::format("{:.0f}", 100 * *score)},
                        {"above", above_chance(test, pick(test))}});
  return data;
}

Json heat_map(const std::string& title, const std::string& line, std::span<const Json> cards, const Json& data) {
  std::vector<std::string> mixers;
  for (const Json& card : cards) mixers.push_back(card.at("mixer"));
  Json figure = figure_head(title, {line, "shade: from chance (white) to perfect"});
  const Json x = test_axis(),
             y = field("mixer", "nominal",
                       {{"scale", {{"domain", mixers}, {"padding", 0.08}}},
                        {"axis", {{"title", nullptr}, {"ticks", false}, {"domain", false}, {"labelLimit", 320}}}});
  const Json ink = {{"condition", {{"test", "datum.above > 0.55"}, {"value", "white"}}}, {"value", kInk}};
  figure.update(
      {{"data", {{"values", data}}},
       {"width", {{"step", kColumn}}},
       {"height", {{"step", kRow}}},
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

const Json& score_of(const Json& test) { return test.at("score"); }
const Json& beyond_of(const Json& test) {
  const Json& beyond = test.at("extrapolation");
  return beyond.is_null() ? beyond : beyond.at("score");
}

ReportSection zoo_section(std::span<const Json> cards) {
  ReportSection section;
  section.figures.push_back({"zoo", zoo_figure(cards), "Mixers with the highest scores are at the top."});
  section.figures.push_back({"zoo-beyond", zoo_beyond_figure(cards),
                             "The same weights on sequences four times as long, or on the phase tests of counting. "
                             "Blank: the mixer has parameters for one length."});
  section.tables.push_back({"Scores", zoo_table(cards, ZooColumn::score), "", true, "zoo"});
  section.tables.push_back({"Beyond training", zoo_table(cards, ZooColumn::beyond), "", true, "beyond"});
  section.tables.push_back({"Windows, in decades", zoo_table(cards, ZooColumn::window), kWindow, true, "windows"});
  return section;
}

}  // namespace

Json profile_figure(const Json& card, std::span<const Json> others) {
  const std::string mixer = card.at("mixer");
  Json figure =
      figure_head(fmt::format("What {} remembers", mixer),
                  {fmt::format("{} scale, card version {}", card.at("scale").get<std::string>(), kCardVersion),
                   "bars: this mixer; ticks: mixers of the zoo", "circles: beyond training; dark lines: chance"});
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
       {"width", {{"step", kColumn}}},
       {"height", 220},
       {"layer",
        Json::array(
            {ticks("score", {{"type", "bar"}, {"color", "#0072B2"}, {"opacity", 0.85}}, "datum.role === 'this'"),
             ticks("chance", {{"type", "tick"}, {"color", kInk}, {"thickness", 2}}, "datum.role === 'this'"),
             ticks("score", {{"type", "tick"}, {"color", "#555555"}, {"opacity", 0.6}, {"thickness", 1.5}},
                   "datum.role === 'other'"),
             ticks("longer",
                   {{"type", "point"}, {"stroke", "#D55E00"}, {"fill", "white"}, {"size", 50}, {"strokeWidth", 2}},
                   "datum.role === 'this' && isValid(datum.longer)")})}});
  return figure;
}

Json zoo_figure(std::span<const Json> cards) {
  return heat_map("What the mixers remember", fmt::format("score in per cent, card version {}", kCardVersion), cards,
                  zoo_data(cards, score_of));
}

Json zoo_beyond_figure(std::span<const Json> cards) {
  return heat_map("Beyond training", "score in per cent on longer sequences; counting: phase tests", cards,
                  zoo_data(cards, beyond_of));
}

ReportPage card_page(const Json& card, std::span<const Json> others) {
  const std::string mixer = card.at("mixer");
  ReportPage page{.title = fmt::format("Report card of {}", mixer),
                  .summary = "What it can remember, by a fixed battery of small tests; docs/card.md has its limits.",
                  .facts = {{"Scale", card.at("scale")},
                            {"Version", std::to_string(kCardVersion)},
                            {"Score", kRule},
                            {"Window", kWindow}},
                  .sections = {},
                  .footer = page_footer()};
  if (const std::string source = card.value("source", ""); !source.empty())
    page.facts.push_back({"Version of the source", source});
  if (const auto overrides = card.value("overrides", std::vector<std::string>{}); !overrides.empty())
    page.facts.push_back({"Overrides", join(overrides, " ")});
  ReportSection& first = page.sections.emplace_back();
  first.figures.push_back({"card", profile_figure(card, others), "The profile, against mixers that ship with Mneme."});
  first.tables.push_back({"Tests", card_table(card), "", false, "card"});
  first.tables.push_back({"Size and speed", card_cost_table(card), "", false, "cost"});
  std::vector<Json> all(others.begin(), others.end());
  std::erase_if(all, [&](const Json& other) { return other.at("mixer") == mixer; });
  all.insert(all.begin(), card);
  if (all.size() > 1) {
    page.sections.push_back(zoo_section(best_first(all)));
    page.sections.back().title = "Among the mixers that ship";
  }
  return page;
}

ReportPage zoo_page(std::span<const Json> cards) {
  ReportPage page{
      .title = "Report cards of the zoo",
      .summary = "What each mixer can remember, by a fixed battery of small tests; docs/card.md has its limits.",
      .facts = {{"Version", std::to_string(kCardVersion)}, {"Score", kRule}, {"Window", kWindow}},
      .sections = {},
      .footer = page_footer()};
  page.sections.push_back(zoo_section(cards));
  ReportSection& each = page.sections.emplace_back();
  each.title = "Each mixer";
  for (const Json& card : cards) {
    const std::string mixer = card.at("mixer");
    each.tables.push_back({mixer, card_table(card), "", true, ""});
    each.tables.push_back({mixer + ", size and speed", card_cost_table(card), "", true, ""});
  }
  return page;
}

}  // namespace mneme::report
