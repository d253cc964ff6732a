#include "report/pages/tables_lr_window.h"

#include <fmt/format.h>

#include "report/stats/cells.h"
#include "report/stats/format.h"

namespace mneme::report {
Table window_table(const LrWindows& windows, std::span<const study::PaperValue> paper, bool with_paper) {
  Table table{.columns = {{"mixer"},
                          {"window"},
                          {"decades", Align::right},
                          {"best rate", Align::right},
                          {"validation %", Align::right},
                          {"test %", Align::right},
                          {"seeds", Align::right}},
              .rows = {}};
  for (const LrSeries& series : windows.series) with_paper |= study::find_paper_value(paper, series.config) != nullptr;
  if (with_paper) table.columns.push_back({"paper", Align::right});
  for (const LrSeries& series : windows.series) {
    const RatePoint& best = series.points[series.best];
    table.rows.push_back({series.label, describe_range(series.window), describe_width(series.window),
                          format_rate(best.rate), mean_and_error(best.validation), mean_and_error(best.test),
                          std::to_string(best.test.n)});
    const study::PaperValue* said = study::find_paper_value(paper, series.config);
    if (with_paper) table.rows.back().push_back(said ? said->shown() : "");
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
