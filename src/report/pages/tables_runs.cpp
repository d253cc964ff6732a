#include "report/pages/tables_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "core/text.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

std::string optional_percent(const std::optional<double>& value) {
  return format_percent(value.value_or(std::numeric_limits<double>::quiet_NaN()));
}

// By series, rate and id.
std::vector<std::size_t> order_of(std::span<const ResultRow> rows, const std::vector<std::string>& labels) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::make_tuple(labels[a], learning_rate(rows[a]), rows[a].run) <
           std::make_tuple(labels[b], learning_rate(rows[b]), rows[b].run);
  });
  return order;
}

std::string dotted(const std::string& pointer) {
  std::string path = pointer.substr(1);
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

// Pointer -> value of every field that all rows have, with the same value.
Json shared_fields(std::span<const ResultRow> rows) {
  if (rows.empty()) return Json::object();
  Json shared = rows.front().config.flatten();
  for (const ResultRow& row : rows) {
    const Json flat = row.config.flatten();
    for (auto field = shared.begin(); field != shared.end();)
      field =
          flat.contains(field.key()) && flat.at(field.key()) == field.value() ? std::next(field) : shared.erase(field);
  }
  return shared;
}

}  // namespace

Table run_table(std::span<const ResultRow> rows) {
  const std::vector<std::string> labels = series_labels(rows);
  Table table{.columns = {{"run"},
                          {"mixer"},
                          {"rate", Align::right},
                          {"seed", Align::right},
                          {"outcome"},
                          {"validation %", Align::right},
                          {"test %", Align::right},
                          {"steps", Align::right},
                          {"time", Align::right}},
              .rows = {}};
  for (const std::size_t i : order_of(rows, labels)) {
    const ResultRow& row = rows[i];
    table.rows.push_back({row.run, labels[i], format_rate(learning_rate(row)), seed_text(row),
                          row.reason.empty() ? row.outcome : fmt::format("{}: {}", row.outcome, row.reason),
                          optional_percent(row.validation_accuracy), optional_percent(row.test_accuracy),
                          grouped(row.steps), duration(row.seconds)});
  }
  return table;
}

Table settings_table(std::span<const ResultRow> rows) {
  Table table{.columns = {{"field"}, {"value"}}, .rows = {}};
  const Json shared = shared_fields(rows);
  for (const auto& [pointer, value] : shared.items())
    table.rows.push_back({dotted(pointer), value.is_string() ? value.get<std::string>() : value.dump()});
  return table;
}

Records run_records(std::span<const ResultRow> rows) {
  const std::vector<std::string> labels = series_labels(rows);
  const Json shared = shared_fields(rows);
  Records records;
  for (const std::size_t i : order_of(rows, labels)) {
    const ResultRow& row = rows[i];
    const auto number = [](const std::optional<double>& value) { return value ? Record(*value) : Record(); };
    Record& record = records.emplace_back();
    record = {{"run", row.run},
              {"series", labels[i]},
              {"outcome", row.outcome},
              {"reason", row.reason},
              {"validation_accuracy", number(row.validation_accuracy)},
              {"test_accuracy", number(row.test_accuracy)},
              {"steps", row.steps},
              {"seconds", row.seconds}};
    const Json flat = row.config.flatten();
    for (const auto& [pointer, value] : flat.items())
      if (!shared.contains(pointer)) record[dotted(pointer)] = value;
  }
  return records;
}

Records settings_records(std::span<const ResultRow> rows) {
  Records records;
  const Json shared = shared_fields(rows);
  for (const auto& [pointer, value] : shared.items()) records.push_back({{"field", dotted(pointer)}, {"value", value}});
  return records;
}

}  // namespace mneme::report
