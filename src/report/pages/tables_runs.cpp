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

}  // namespace

Table run_table(std::span<const ResultRow> rows) {
  const std::vector<std::string> labels = series_labels(rows);
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::make_tuple(labels[a], learning_rate(rows[a]), rows[a].run) <
           std::make_tuple(labels[b], learning_rate(rows[b]), rows[b].run);
  });
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
  for (const std::size_t i : order) {
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
  if (rows.empty()) return table;
  Json shared = rows.front().config.flatten();
  for (const ResultRow& row : rows) {
    const Json flat = row.config.flatten();
    for (auto field = shared.begin(); field != shared.end();)
      field =
          flat.contains(field.key()) && flat.at(field.key()) == field.value() ? std::next(field) : shared.erase(field);
  }
  for (const auto& [pointer, value] : shared.items()) {
    std::string path = pointer.substr(1);
    std::replace(path.begin(), path.end(), '/', '.');
    table.rows.push_back({path, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  return table;
}

}  // namespace mneme::report
