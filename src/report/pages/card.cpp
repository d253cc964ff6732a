#include "report/pages/card.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "report/pages/run_label.h"
#include "report/pages/shipped_cards.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

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

std::string beyond_text(const Json& beyond) {
  if (beyond.is_null()) return "-";
  const std::string axis = beyond.at("axis");
  const std::string score = percent(fraction_in(beyond.at("score")));
  if (axis == kPhaseTests) return fmt::format("{} of phase tests", score);
  return fmt::format("{} at {} {}", score, axis, beyond.at("value").get<std::int64_t>());
}

// Which columns, and what a test has in them.
std::string zoo_cell(const Json& test, ZooColumn what) {
  if (what == ZooColumn::score) return percent(fraction_in(test.at("score")));
  if (what == ZooColumn::window) return window_text(test.at("window"));
  const Json& beyond = test.at("extrapolation");
  return beyond.is_null() ? "-" : percent(fraction_in(beyond.at("score")));
}

struct CardColumn {
  Column head;
  std::string (*cell)(const Json& test);
};

const std::vector<CardColumn>& score_columns() {
  static const std::vector<CardColumn> columns = {
      {{"test"}, [](const Json& test) { return test.at("name").get<std::string>(); }},
      {{"score", Align::right}, [](const Json& test) { return percent(fraction_in(test.at("score"))); }},
      {{"chance", Align::right}, [](const Json& test) { return percent(fraction_in(test.at("chance"))); }},
      {{"beyond training", Align::right}, [](const Json& test) { return beyond_text(test.at("extrapolation")); }},
      {{"window, decades", Align::right}, [](const Json& test) { return window_text(test.at("window")); }},
      {{"best rate", Align::right}, [](const Json& test) { return format_rate(test.at("best_lr")); }},
      {{"runs", Align::right}, [](const Json& test) { return std::to_string(test.at("runs").size()); }}};
  return columns;
}

const std::vector<CardColumn>& cost_columns() {
  static const std::vector<CardColumn> columns = {
      {{"test"}, [](const Json& test) { return test.at("name").get<std::string>(); }},
      {{"state", Align::right},
       [](const Json& test) {
         const Json& state = test.at("state");
         return state.is_null() ? "unknown" : grouped(state.get<std::int64_t>());
       }},
      {{"parameters", Align::right},
       [](const Json& test) { return grouped(test.at("parameters").get<std::int64_t>()); }},
      {{"FLOPs/token", Align::right},
       [](const Json& test) { return fmt::format("{:.3g}", test.at("flops_per_token").get<double>()); }},
      {{"tokens/s", Align::right}, [](const Json& test) {
         const Json& speed = test.at("tokens_per_second");
         return speed.is_null() ? "-" : fmt::format("{:.3g}", speed.get<double>());
       }}};
  return columns;
}

Table table_of(const Json& card, const std::vector<CardColumn>& columns) {
  Table table;
  for (const CardColumn& column : columns) table.columns.push_back(column.head);
  for (const Json& test : card.at("tests")) {
    std::vector<std::string>& row = table.rows.emplace_back();
    for (const CardColumn& column : columns) row.push_back(column.cell(test));
  }
  return table;
}

}  // namespace

std::optional<double> fraction_in(const Json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

double above_chance(const Json& test, const Json& score) {
  const double chance = test.at("chance").get<double>();
  if (chance >= 1) return 0;  // at scale smoke there may be one possible answer
  return std::clamp((fraction_in(score).value_or(chance) - chance) / (1 - chance), 0.0, 1.0);
}

const std::vector<CardTest>& card_tests() {
  static const std::vector<CardTest> tests = {
      {"recall", "card/recall", "associations", 0.9, "/test/accuracy", "accuracy"},
      {"forgetting", "card/forgetting", "associations that change", 0.9, "/test/accuracy", "accuracy"},
      {"induction", "card/induction", "what followed", 0.9, "/test/accuracy", "accuracy"},
      {"copying", "card/copying", "order over time", 0.9, "/test/accuracy", "accuracy"},
      {"denoising", "card/denoising", "choosing what to keep", 0.9, "/test/accuracy", "accuracy"},
      {"tracking S3", "card/tracking-solvable", "a state that moves", 0.9, "/test/accuracy", "accuracy"},
      {"tracking A5", "card/tracking-unsolvable", "a state that moves, hard", 0.9, "/test/accuracy", "accuracy"},
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

std::vector<Json> cards_in(const Path& directory, std::string_view scale) {
  std::vector<Path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Json> cards;
  for (const Path& file : files) {
    Json card = parse_json(read_file(file), file.string());
    if (card.at("version") == kCardVersion && card.at("scale") == scale) cards.push_back(std::move(card));
  }
  return cards;
}

std::vector<Json> best_first(std::span<const Json> cards) {
  std::vector<Json> sorted(cards.begin(), cards.end());
  const auto total = [](const Json& card) {
    double sum = 0;
    for (const Json& test : card.at("tests")) sum += above_chance(test, test.at("score"));
    return sum;
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Json& a, const Json& b) { return total(a) > total(b); });
  return sorted;
}

Table card_table(const Json& card) { return table_of(card, score_columns()); }

Table card_cost_table(const Json& card) { return table_of(card, cost_columns()); }

Table zoo_table(std::span<const Json> cards, ZooColumn what) {
  Table table{.columns = {{"mixer"}}, .rows = {}};
  for (const CardTest& test : card_tests()) table.columns.push_back({test.name, Align::right});
  for (const Json& card : cards) {
    std::vector<std::string> row{card.at("mixer")};
    for (const CardTest& test : card_tests()) {
      const Json* found = test_of(card, test.name);
      row.push_back(found ? zoo_cell(*found, what) : "-");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace mneme::report
