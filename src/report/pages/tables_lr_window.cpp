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
                          {"95 % of it", Align::right},
                          {"half budget"},
                          {"quarter budget"},
                          {"sensitivity", Align::right},
                          {"best rate", Align::right},
                          {"validation %", Align::right},
                          {"test %", Align::right},
                          {"95 % interval", Align::right},
                          {"seeds", Align::right}},
              .rows = {}};
  for (const LrSeries& series : windows.series) with_paper |= study::find_paper_value(paper, series.config) != nullptr;
  if (with_paper) table.columns.push_back({"paper", Align::right});
  for (const LrSeries& series : windows.series) {
    const RatePoint& best = series.points[series.best];
    const bool known = series.grid.seeds() > 1;
    table.rows.push_back(
        {series.label, describe_range(series.window), describe_width(series.window),
         known ? fmt::format("{:.2f}", series.uncertainty.width_error) : "-",
         known ? fmt::format("{:.2f} to {:.2f}", series.uncertainty.least, series.uncertainty.most) : "-",
         series.has_curves ? describe_range(series.half) : "-",
         series.has_curves ? describe_range(series.quarter) : "-", sensitivity_text(series), format_rate(best.rate),
         mean_and_error(best.validation), mean_and_error(best.test), interval_text(best.test),
         std::to_string(best.test.n)});
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
  const auto share = [](double value) { return fmt::format("{:.0f}", 100 * value); };
  for (const ComparedWindows& pair : compare_all(windows))
    table.rows.push_back({pair.first->label, pair.second->label, fmt::format("{:+.2f}", pair.difference),
                          pair.seeds > 1 ? fmt::format("{:+.2f} to {:+.2f}", pair.draws.least, pair.draws.most) : "-",
                          share(pair.draws.wider), share(pair.draws.equal), share(pair.draws.narrower),
                          share(pair.draws.unknown)});
  return table;
}

Table rate_table(const LrWindows& windows) {
  Table table{.columns = {{"mixer"},
                          {"rate", Align::right},
                          {"seeds", Align::right},
                          {"test %", Align::right},
                          {"s.e.", Align::right},
                          {"95 % interval", Align::right},
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
                            interval_text(point.test), format_percent(point.test.min), format_percent(point.test.max),
                            format_percent(point.test.median), format_percent(point.validation.mean),
                            fmt::format("{:.0f}", 100 * point.validation.success_rate)});
  return table;
}

void add_window_records(Records& records, const std::string& panel, const LrWindows& windows,
                        std::span<const study::PaperValue> paper) {
  const auto range = [](Record& record, const std::string& name, const std::optional<RateWindow>& window) {
    record[name + "_low_lr"] = window ? Record(window->lo) : Record();
    record[name + "_high_lr"] = window ? Record(window->hi) : Record();
  };
  for (const LrSeries& series : windows.series) {
    Record& record = records.emplace_back();
    record["panel"] = panel;
    record["series"] = series.label;
    range(record, "window", series.window);
    record["window_decades"] = series.window ? Record(series.window->decades()) : Record();
    record["window_open_below"] = series.window && series.window->reaches_lowest;
    record["window_open_above"] = series.window && series.window->reaches_highest;
    const bool known = series.grid.seeds() > 1;
    record["window_decades_standard_error"] = known ? Record(series.uncertainty.width_error) : Record();
    record["window_decades_ci95_low"] = known ? Record(series.uncertainty.least) : Record();
    record["window_decades_ci95_high"] = known ? Record(series.uncertainty.most) : Record();
    range(record, "half_budget", series.half);
    range(record, "quarter_budget", series.quarter);
    if (series.sensitivity) add_summary(record, "sensitivity", *series.sensitivity);
    const RatePoint& best = series.points[series.best];
    record["best_lr"] = best.rate;
    record["seeds"] = best.test.n;
    add_score(record, "validation_score", best.validation);
    add_score(record, "test_score", best.test);
    if (const study::PaperValue* said = study::find_paper_value(paper, series.config)) record["paper"] = said->shown();
  }
}

void add_comparison_records(Records& records, const std::string& panel, const LrWindows& windows) {
  for (const ComparedWindows& pair : compare_all(windows))
    records.push_back({{"panel", panel},
                       {"first", pair.first->label},
                       {"second", pair.second->label},
                       {"difference_decades", pair.difference},
                       {"difference_decades_ci95_low", pair.draws.least},
                       {"difference_decades_ci95_high", pair.draws.most},
                       {"share_wider", pair.draws.wider},
                       {"share_equal", pair.draws.equal},
                       {"share_narrower", pair.draws.narrower},
                       {"share_open", pair.draws.unknown}});
}

void add_rate_records(Records& records, const std::string& panel, const LrWindows& windows) {
  for (const LrSeries& series : windows.series)
    for (const RatePoint& point : series.points) {
      Record& record = records.emplace_back();
      record = {{"panel", panel}, {"series", series.label}, {"lr", point.rate}, {"seeds", point.test.n}};
      add_score(record, "test_score", point.test);
      add_score(record, "validation_score", point.validation);
      record["share_solved"] = point.validation.success_rate;
      record["trainable"] = point.trainable;
    }
}

}  // namespace mneme::report
