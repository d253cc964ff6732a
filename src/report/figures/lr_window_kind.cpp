#include "report/figures/lr_window_kind.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "report/figures/figure_lr_window.h"
#include "report/pages/tables_lr_window.h"
#include "report/stats/cells.h"
#include "report/stats/format.h"
#include "report/stats/paired.h"

namespace mneme::report {
namespace {

constexpr std::size_t kManyLines = 40;  // a longer table starts closed
constexpr std::size_t kFewPairs = 3;    // more differences than these are in a table only

std::string rule_text(const LrWindowRule& rule) {
  return fmt::format("a rate is in the window if at least {:.0f} % of its seeds reach {:.0f} % validation accuracy",
                     100 * rule.share, 100 * rule.threshold);
}

std::string finding(const std::string& panel, const LrSeries& series) {
  const std::string label = panel.empty() ? series.label : fmt::format("{}, {}", panel, series.label);
  if (!series.window) return fmt::format("{}: no learning rate of this grid is in the window", label);
  return fmt::format(
      "{}: window {}, {} decades wide ({}); best rate {} with {} % on test", label, describe_range(series.window),
      describe_width(series.window), describe_uncertainty(series.uncertainty, series.grid.seeds()),
      format_rate(series.points[series.best].rate), format_percent(series.points[series.best].test.mean));
}

// "attention's window is 0.50 decades wider than mamba's".
std::string difference_text(const std::string& panel, const ComparedWindows& pair) {
  const double size = std::abs(pair.difference);
  std::string text = panel.empty() ? "" : panel + ", ";
  text += size < 0.005 ? fmt::format("{} and {}: windows of equal width", pair.first->label, pair.second->label)
                       : fmt::format("{}: its window is {:.2f} decades {} than that of {}", pair.first->label, size,
                                     pair.difference > 0 ? "wider" : "narrower", pair.second->label);
  if (pair.seeds < 2) return text + " (one seed: the uncertainty is not known)";
  text += fmt::format(" (difference {:+.2f}, 95 % from {:+.2f} to {:+.2f}", pair.difference, pair.draws.least,
                      pair.draws.most);
  if (pair.draws.unknown > 0)
    text += fmt::format("; in {:.0f} % of the draws an end of the grid hides which is wider", 100 * pair.draws.unknown);
  return text + ")";
}

Json compared_json(const std::string& panel, const ComparedWindows& pair) {
  const bool known = pair.seeds > 1;
  return {{"panel", panel},
          {"first", pair.first->label},
          {"second", pair.second->label},
          {"decades", pair.difference},
          {"decades_95", known ? Json{pair.draws.least, pair.draws.most} : Json()},
          {"wider", pair.draws.wider},
          {"equal", pair.draws.equal},
          {"narrower", pair.draws.narrower},
          {"unknown", pair.draws.unknown}};
}

Json series_json(const std::string& panel, const LrSeries& series) {
  Json points = Json::array();
  for (const RatePoint& point : series.points)
    points.push_back({{"lr", point.rate},
                      {"seeds", point.test.n},
                      {"trainable", point.trainable},
                      {"validation", statistics_json(point.validation)},
                      {"test", statistics_json(point.test)}});
  Json window;
  if (series.window)
    window = {
        {"lo", series.window->lo},
        {"hi", series.window->hi},
        {"decades", series.window->decades()},
        {"reaches_lowest", series.window->reaches_lowest},
        {"reaches_highest", series.window->reaches_highest},
        {"decades_error", series.uncertainty.width_error},
        {"decades_95", series.grid.seeds() > 1 ? Json{series.uncertainty.least, series.uncertainty.most} : Json()}};
  return {{"panel", panel},
          {"label", series.label},
          {"window", window},
          {"half_budget", series.has_curves ? Json(describe_range(series.half)) : Json()},
          {"quarter_budget", series.has_curves ? Json(describe_range(series.quarter)) : Json()},
          {"sensitivity", series.sensitivity ? statistics_json(*series.sensitivity) : Json()},
          {"best_lr", series.points[series.best].rate},
          {"points", points}};
}

Json paired_json(const std::string& panel, const PairedDifference& paired) {
  const double error = paired.difference.standard_error;
  const auto interval = confidence_interval(paired.difference);
  return {{"panel", panel},
          {"first", paired.first},
          {"second", paired.second},
          {"first_lr", paired.first_rate},
          {"second_lr", paired.second_rate},
          {"at_best_rates", paired.at_best_rates},
          {"pairs", paired.difference.n},
          {"mean_difference", paired.difference.mean},
          {"standard_error", std::isnan(error) ? Json() : Json(error)},
          {"confidence_95", interval ? Json{interval->low, interval->high} : Json()}};
}

// The rows of each combination of the fields' values; runs that have not ended are in it and are counted there.
std::vector<LrPanel> panels_of(std::span<const ResultRow> rows, const std::vector<std::string>& fields,
                               const LrWindowRule& rule) {
  std::map<std::vector<Json>, std::vector<const ResultRow*>> groups;
  for (const ResultRow& row : rows) groups[values_at(row, fields)].push_back(&row);
  std::vector<std::vector<Json>> values;
  for (const auto& [value, members] : groups) values.push_back(value);
  const std::vector<std::string> names = panel_names(values, fields);
  std::vector<LrPanel> panels;
  for (const auto& [value, members] : groups) {
    // Many thousands of rows are not copied without need, and those of one panel at a time.
    std::vector<ResultRow> own;
    if (groups.size() > 1)
      for (const ResultRow* row : members) own.push_back(*row);
    panels.push_back({names[panels.size()], find_lr_windows(groups.size() > 1 ? own : rows, rule, fields)});
  }
  if (panels.empty()) panels.push_back({"", find_lr_windows({}, rule)});
  return panels;
}

FigureReport build(std::span<const ResultRow> rows, const FigureSubject& subject, const Options& options) {
  const LrWindowRule rule{{options.real("threshold"), options.real("share")},
                          static_cast<std::size_t>(options.integer("seeds"))};
  const std::vector<LrPanel> panels = panels_of(rows, options.texts("panels"), rule);
  FigureReport report;
  std::vector<TablePart> windows, rates, pairs, compared;
  bool with_paper = false;
  for (const LrPanel& panel : panels)
    for (const LrSeries& series : panel.windows.series)
      with_paper |= study::find_paper_value(subject.paper, series.config) != nullptr;
  Json all_series = Json::array(), all_pairs = Json::array(), all_compared = Json::array();
  Records window_records, rate_records, pair_records, compared_records;
  std::vector<std::string> differences;
  for (const LrPanel& panel : panels) {
    windows.push_back({panel.name, window_table(panel.windows, subject.paper, with_paper)});
    rates.push_back({panel.name, rate_table(panel.windows)});
    compared.push_back({panel.name, comparison_table(panel.windows)});
    const std::vector<PairedDifference> paired = paired_differences(panel.windows);
    pairs.push_back({panel.name, paired_table(paired)});
    add_window_records(window_records, panel.name, panel.windows, subject.paper);
    add_rate_records(rate_records, panel.name, panel.windows);
    add_comparison_records(compared_records, panel.name, panel.windows);
    add_paired_records(pair_records, panel.name, paired);
    for (const ComparedWindows& pair : compare_all(panel.windows)) {
      differences.push_back(difference_text(panel.name, pair));
      all_compared.push_back(compared_json(panel.name, pair));
    }
    for (const PairedDifference& one : paired) all_pairs.push_back(paired_json(panel.name, one));
    for (const LrSeries& series : panel.windows.series) {
      report.findings.push_back(finding(panel.name, series));
      all_series.push_back(series_json(panel.name, series));
    }
  }
  // With many series the table says it better.
  if (differences.size() <= kFewPairs)
    report.findings.insert(report.findings.end(), differences.begin(), differences.end());
  const Json figure = lr_window_figure(panels, {.title = figure_title(subject, options),
                                                .setup = setup_line(rows),
                                                .scale = subject.scale,
                                                .chance = subject.chance,
                                                .score = score_name(rows),
                                                .marks = options.reals("marks")});
  report.figures.push_back({subject.name, figure,
                            fmt::format("Test accuracy against learning rate: mean, range and {}; below, the window.",
                                        draws_every_seed(panels) ? "each seed" : "some of the seeds, evenly chosen")});
  report.tables.push_back(
      {"Windows", stacked("panel", windows), rule_text(rule) + ".", false, "windows", window_records});
  if (const Table differing = stacked("panel", compared); !differing.rows.empty())
    report.tables.push_back({"Windows compared", differing,
                             "Differences in decades, over resampled seeds that are the same for both.", true,
                             "windows-compared", compared_records});
  const Table rate_lines = stacked("panel", rates);
  report.tables.push_back({"Learning rates", rate_lines, "Accuracies in per cent over seeds.",
                           rate_lines.rows.size() > kManyLines, "rates", rate_records});
  if (!all_pairs.empty())
    report.tables.push_back(
        {"Pairs of seeds", stacked("panel", pairs),
         "Test accuracy of two series at equal seeds: mean, standard error and interval of the difference.", true,
         "paired", pair_records});
  report.rules.emplace_back("Window", rule_text(rule));
  report.data = {{"series", all_series}, {"paired", all_pairs}, {"compared", all_compared}};
  return report;
}

}  // namespace

FigureKind lr_window_kind() {
  return {.name = "lr-window",
          .summary = "test accuracy against learning rate, and below it the window of rates that train",
          .options = {title_field(), threshold_field("validation accuracy from which a run counts as solved"),
                      real_field("share", 0.5, 0.0, 1.0,
                                 "share of the seeds that must solve it for a rate to be in the window"),
                      integer_field("seeds", 0, 0, 1000000, "seeds that a rate should have; 0: as many as there are"),
                      panels_field({"task.length"}), marks_field()},
          .build = build};
}

}  // namespace mneme::report
