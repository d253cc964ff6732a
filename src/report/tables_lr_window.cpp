#include "report/tables_lr_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "core/text.h"
#include "report/format.h"

namespace mneme {
namespace {

std::string mean_and_error(const Summary& summary) {
  if (std::isnan(summary.standard_error)) return format_percent(summary.mean);
  return fmt::format("{} ± {}", format_percent(summary.mean), format_percent(summary.standard_error));
}

std::string optional_percent(const std::optional<double>& value) {
  return format_percent(value.value_or(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace

Table window_table(const LrWindows& windows) {
  Table table{.columns = {{"mixer"},
                          {"window"},
                          {"decades", Align::right},
                          {"best rate", Align::right},
                          {"validation %", Align::right},
                          {"test %", Align::right},
                          {"seeds", Align::right}},
              .rows = {}};
  for (const LrSeries& series : windows.series) {
    const RatePoint& best = series.points[series.best];
    table.rows.push_back({series.label, describe_range(series.window), describe_width(series.window),
                          format_rate(best.rate), mean_and_error(best.validation), mean_and_error(best.test),
                          std::to_string(best.test.n)});
  }
  return table;
}

Table rate_table(const LrWindows& windows) {
  Table table{.columns = {{"mixer"},
                          {"rate", Align::right},
                          {"seeds", Align::right},
                          {"test %", Align::right},
                          {"s.e.", Align::right},
                          {"min", Align::right},
                          {"max", Align::right},
                          {"median", Align::right},
                          {"validation %", Align::right},
                          {"success %", Align::right}},
              .rows = {}};
  for (const LrSeries& series : windows.series)
    for (const RatePoint& point : series.points)
      table.rows.push_back({series.label, format_rate(point.rate), std::to_string(point.test.n),
                            format_percent(point.test.mean), format_percent(point.test.standard_error),
                            format_percent(point.test.min), format_percent(point.test.max),
                            format_percent(point.test.median), format_percent(point.validation.mean),
                            fmt::format("{:.0f}", 100 * point.validation.success_rate)});
  return table;
}

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

}  // namespace mneme
