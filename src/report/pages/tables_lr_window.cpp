#include "report/pages/tables_lr_window.h"

#include <fmt/format.h>

#include <cmath>

#include "report/stats/cells.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

std::string sensitivity_text(const LrSeries& series) {
  if (!series.sensitivity) return "-";
  if (std::isnan(series.sensitivity->standard_error)) return fmt::format("{:.2f}", series.sensitivity->mean);
  return fmt::format("{:.2f} ± {:.2f}", series.sensitivity->mean, series.sensitivity->standard_error);
}

}  // namespace

Table window_table(const LrWindows& windows, std::span<const study::PaperValue> paper, bool with_paper) {
  Table table{.columns = {{"mixer"},
                          {"window"},
                          {"decades", Align::right},
                          {"± seeds", Align::right},
                          {"half budget"},
                          {"quarter budget"},
                          {"sensitivity", Align::right},
                          {"best rate", Align::right},
                          {"validation %", Align::right},
                          {"test %", Align::right},
                          {"seeds", Align::right}},
              .rows = {}};
  for (const LrSeries& series : windows.series) with_paper |= study::find_paper_value(paper, series.config) != nullptr;
  if (with_paper) table.columns.push_back({"paper", Align::right});
  for (const LrSeries& series : windows.series) {
    const RatePoint& best = series.points[series.best];
    table.rows.push_back(
        {series.label, describe_range(series.window), describe_width(series.window),
         fmt::format("{:.2f}", series.uncertainty.width_error), series.has_curves ? describe_range(series.half) : "-",
         series.has_curves ? describe_range(series.quarter) : "-", sensitivity_text(series), format_rate(best.rate),
         mean_and_error(best.validation), mean_and_error(best.test), std::to_string(best.test.n)});
    const study::PaperValue* said = study::find_paper_value(paper, series.config);
    if (with_paper) table.rows.back().push_back(said ? said->shown() : "");
  }
  return table;
}

Table comparison_table(const LrWindows& windows) {
  Table table{.columns = {{"first"},
                          {"second"},
                          {"difference", Align::right},
                          {"95 % of the draws", Align::right},
                          {"wider %", Align::right},
                          {"equal %", Align::right},
                          {"narrower %", Align::right},
                          {"open %", Align::right}},
              .rows = {}};
  const auto width = [](const LrSeries& series) { return series.window ? series.window->decades() : 0.0; };
  const auto share = [](double value) { return fmt::format("{:.0f}", 100 * value); };
  for (std::size_t i = 0; i < windows.series.size(); ++i)
    for (std::size_t j = i + 1; j < windows.series.size(); ++j) {
      const LrSeries &first = windows.series[i], &second = windows.series[j];
      const study::WindowComparison both = study::compare_windows(first.grid, second.grid, windows.rule);
      table.rows.push_back({first.label, second.label, fmt::format("{:+.2f}", width(first) - width(second)),
                            fmt::format("{:+.2f} to {:+.2f}", both.least, both.most), share(both.wider),
                            share(both.equal), share(both.narrower), share(both.unknown)});
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

}  // namespace mneme::report
