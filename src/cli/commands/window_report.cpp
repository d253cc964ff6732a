#include "cli/commands/window_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/command.h"
#include "cli/terminal/fit.h"
#include "cli/terminal/terminal.h"
#include "core/text.h"
#include "report/pages/run_label.h"
#include "report/pages/study_report.h"
#include "report/pages/table.h"
#include "report/stats/format.h"
#include "report/stats/lr_window.h"
#include "report/stats/statistics.h"

namespace mneme::cli {
namespace {

struct RateSummary {
  report::Summary validation;
  std::optional<report::Summary> test;
  std::vector<std::string> endings;  // "threshold", "hopeless", "budget", "diverged"
};

std::map<std::size_t, RateSummary> by_rate(const WindowReport& report) {
  std::map<std::size_t, std::vector<const WindowRun*>> groups;
  for (const WindowRun& run : report.runs) groups[run.rate].push_back(&run);
  std::map<std::size_t, RateSummary> result;
  for (const auto& [rate, runs] : groups) {
    std::vector<double> validation, test;
    for (const WindowRun* run : runs) {
      validation.push_back(run->validation);
      const Json::json_pointer at("/values/test/accuracy");
      if (run->summary.contains(at) && run->summary.at(at).is_number())
        test.push_back(run->summary.at(at).get<double>());
      const bool diverged = run->summary.value("outcome", "") == "diverged";
      result[rate].endings.push_back(diverged ? "diverged" : run->summary.value("reason", ""));
    }
    result[rate].validation = report::summarize(validation, report.rule.threshold);
    if (!test.empty()) result[rate].test = report::summarize(test, report.rule.threshold);
  }
  return result;
}

// The lower of equals.
std::size_t best_rate(const std::map<std::size_t, RateSummary>& rates) {
  return std::max_element(
             rates.begin(), rates.end(),
             [](const auto& a, const auto& b) { return a.second.validation.mean < b.second.validation.mean; })
      ->first;
}

double step_decades(const WindowReport& report) {
  return std::log10(report.rates.back() / report.rates.front()) / static_cast<double>(report.rates.size() - 1);
}

std::string endings_text(std::vector<std::string> endings) {
  std::sort(endings.begin(), endings.end());
  std::map<std::string, int> counts;
  for (const std::string& ending : endings) ++counts[ending];
  std::vector<std::string> parts;
  for (const auto& [ending, count] : counts) parts.push_back(fmt::format("{} {}", count, ending));
  return join(parts, ", ");
}

}  // namespace

Json window_json(const WindowReport& report) {
  const auto rates = by_rate(report);
  const std::size_t best = best_rate(rates);
  Json points = Json::array(), runs = Json::array(), found;
  for (const auto& [rate, summary] : rates)
    points.push_back({{"lr", report.rates[rate]},
                      {"validation", report::statistics_json(summary.validation)},
                      {"test", summary.test ? statistics_json(*summary.test) : Json()}});
  for (const WindowRun& run : report.runs)
    runs.push_back(
        {{"id", run.id}, {"lr", report.rates[run.rate]}, {"seed", run.seed}, {"validation_accuracy", run.validation}});
  const double step = step_decades(report);
  if (report.found)
    found = {{"lo", report.rates[report.found->lo]},
             {"hi", report.rates[report.found->hi]},
             {"decades", static_cast<double>(report.found->hi - report.found->lo) * step},
             {"decades_error", report.uncertainty.width_error * step},
             {"decades_95", Json{report.uncertainty.least * step, report.uncertainty.most * step}},
             {"lo_decades_error", report.uncertainty.lo_error * step},
             {"hi_decades_error", report.uncertainty.hi_error * step},
             {"resolution_decades", step},
             {"reaches_lowest", report.found->lo == 0},
             {"reaches_highest", report.found->hi + 1 == report.rates.size()},
             {"sharp", report.found->lo_is_sharp && report.found->hi_is_sharp}};
  return {{"mixer", report.mixer},
          {"threshold", report.rule.threshold},
          {"share", report.rule.share},
          {"window", found},
          {"best_lr", report.rates[best]},
          {"best_validation", rates.at(best).validation.mean},
          {"best_test", rates.at(best).test ? Json(rates.at(best).test->mean) : Json()},
          {"runs_spent", report.runs.size()},
          {"runs_of_the_grid", report.grid_runs},
          {"rates", points},
          {"runs", runs}};
}

void print_window(const WindowReport& report, bool json) {
  if (json) return print_json(window_json(report));
  const auto rates = by_rate(report);
  report::Table table{.columns = {{"rate", report::Align::right},
                                  {"seeds", report::Align::right},
                                  {"solved", report::Align::right},
                                  {"validation", report::Align::right},
                                  {"test", report::Align::right},
                                  {""},
                                  {"ended by"}},
                      .rows = {}};
  for (const auto& [rate, summary] : rates)
    table.rows.push_back({report::format_rate(report.rates[rate]), std::to_string(summary.validation.n),
                          fmt::format("{:.0f} %", 100 * summary.validation.success_rate),
                          report::percent(summary.validation.mean),
                          report::percent(summary.test ? std::optional(summary.test->mean) : std::nullopt),
                          bar(summary.validation.mean, 20), endings_text(summary.endings)});
  fmt::print("{}\n", fit(table));
  const double step = step_decades(report);
  if (!report.found) {
    fmt::print("{}: found no trainable rate from {} to {}\n", report.mixer, report::format_rate(report.rates.front()),
               report::format_rate(report.rates.back()));
  } else {
    const study::Window& found = *report.found;
    const bool open = found.lo == 0 || found.hi + 1 == report.rates.size();
    fmt::print("{}: window {} to {}, {}{:.2f} decades wide ({}; grid step {:.2f})\n", report.mixer,
               report::format_rate(report.rates[found.lo]), report::format_rate(report.rates[found.hi]),
               open ? "at least " : "", static_cast<double>(found.hi - found.lo) * step,
               report::describe_uncertainty(report.uncertainty, report.grid_runs / report.rates.size(), step), step);
    if (!found.lo_is_sharp || !found.hi_is_sharp)
      fmt::print("the run budget was spent before {} known\n", found.lo_is_sharp   ? "the upper edge was"
                                                               : found.hi_is_sharp ? "the lower edge was"
                                                                                   : "its edges were");
  }
  const std::size_t best = best_rate(rates);
  fmt::print("best rate {} (chosen on validation): {} on test\n", report::format_rate(report.rates[best]),
             report::percent(rates.at(best).test ? std::optional(rates.at(best).test->mean) : std::nullopt));
  fmt::print("used {}, {} of the full grid's {}\n", counted(report.runs.size(), "run"),
             report::percent(static_cast<double>(report.runs.size()) / static_cast<double>(report.grid_runs)),
             report.grid_runs);
}

void write_window(const WindowReport& report, const std::string& name, const std::vector<report::ResultRow>& rows,
                  double chance, const store::Lab& lab, bool quiet) {
  report::ReportSubject subject{.name = name,
                                .title = fmt::format("Learning-rate window of {}", report.mixer),
                                .scale = "",
                                .figures = {report::default_figure()},
                                .chance = chance,
                                .planned = rows.size(),
                                .paper = {},
                                .environments = environments_of(rows, lab)};
  subject.figures.front().options.set("threshold", report.rule.threshold);
  subject.figures.front().options.set("share", report.rule.share);
  // A rate with some of its seeds may be undecided: as many are wanted as the search had.
  subject.figures.front().options.set("seeds", static_cast<std::int64_t>(report.grid_runs / report.rates.size()));
  const report::StudyReport written = report::write_report(rows, subject, lab.reports());
  write_file_atomically(written.directory / "window.json", window_json(report).dump(2) + "\n");
  if (!quiet) fmt::print("report    {}\n", written.page.string());
}

}  // namespace mneme::cli
