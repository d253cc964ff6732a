#include "cli/study_report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "cli/command.h"
#include "core/error.h"
#include "core/text.h"
#include "report/draw.h"
#include "report/figure_lr_window.h"
#include "report/format.h"
#include "report/html.h"
#include "report/paired.h"
#include "report/tables_lr_window.h"

namespace mneme {
namespace {

std::string rule_text(const LrWindowRule& rule) {
  return fmt::format("a rate is in the window if at least {:.0f} % of its seeds reach {:.0f} % validation accuracy",
                     100 * rule.share, 100 * rule.threshold);
}

std::string headline(const LrSeries& series) {
  if (!series.window) return fmt::format("{}: no learning rate of this grid is in the window", series.label);
  return fmt::format("{}: window {}, {} decades wide; best rate {} with {} % on test", series.label,
                     describe_range(series.window), describe_width(series.window),
                     format_rate(series.points[series.best].rate),
                     format_percent(series.points[series.best].test.mean));
}

ReportPage page_of(const std::vector<ResultRow>& rows, const ReportSubject& subject, const LrWindows& windows,
                   const Json& figure) {
  ReportPage page;
  page.title = subject.title;
  for (const LrSeries& series : windows.series) page.summary += headline(series) + ". ";
  page.facts = {{"Setup", setup_line(rows)},
                {"Runs", fmt::format("{} ended, {} planned", windows.runs, subject.planned)}};
  if (!subject.scale.empty()) page.facts.emplace_back("Scale", subject.scale);
  page.facts.emplace_back("Window", rule_text(windows.rule));
  page.facts.emplace_back("Selection", "rates are chosen on the validation split, the test split is reported");
  page.figures.push_back(
      {subject.name, figure, "Test accuracy against learning rate: mean, range and each seed; below, the window."});
  page.tables.push_back({"Windows", window_table(windows), rule_text(windows.rule) + ".", false});
  page.tables.push_back({"Learning rates", rate_table(windows), "Accuracies in per cent over seeds.", false});
  if (const auto paired = paired_differences(windows); !paired.empty())
    page.tables.push_back({"Pairs of seeds", paired_table(paired),
                           "Test accuracy of two series at equal seeds: mean and standard error of the difference.",
                           true});
  page.tables.push_back({"Runs", run_table(rows), "", true});
  page.footer = fmt::format("Mneme {}, {:%Y-%m-%d %H:%M} UTC", MNEME_VERSION, fmt::gmtime(std::time(nullptr)));
  return page;
}

}  // namespace

Json statistics_json(const Summary& summary) {
  return {{"n", summary.n},
          {"mean", summary.mean},
          {"standard_error", std::isnan(summary.standard_error) ? Json() : Json(summary.standard_error)},
          {"min", summary.min},
          {"max", summary.max},
          {"median", summary.median},
          {"success_rate", summary.success_rate}};
}

namespace {

Json series_json(const LrSeries& series) {
  Json points = Json::array();
  for (const RatePoint& point : series.points)
    points.push_back({{"lr", point.rate},
                      {"seeds", point.test.n},
                      {"trainable", point.trainable},
                      {"validation", statistics_json(point.validation)},
                      {"test", statistics_json(point.test)}});
  Json window;
  if (series.window)
    window = {{"lo", series.window->lo},
              {"hi", series.window->hi},
              {"decades", series.window->decades()},
              {"reaches_lowest", series.window->reaches_lowest},
              {"reaches_highest", series.window->reaches_highest}};
  return {
      {"label", series.label}, {"window", window}, {"best_lr", series.points[series.best].rate}, {"points", points}};
}

Json paired_json(const PairedDifference& paired) {
  const double error = paired.difference.standard_error;
  return {{"first", paired.first},
          {"second", paired.second},
          {"first_lr", paired.first_rate},
          {"second_lr", paired.second_rate},
          {"at_best_rates", paired.at_best_rates},
          {"pairs", paired.difference.n},
          {"mean_difference", paired.difference.mean},
          {"standard_error", std::isnan(error) ? Json() : Json(error)}};
}

}  // namespace

ResultRow row_of(const RunRecord& record) {
  ResultRow row;
  row.run = record.id;
  row.config = parse_json(record.config, record.id);
  row.outcome = run_state_name(record.state);
  if (record.state == RunState::failed) row.reason = record.reason;
  row.validation_accuracy = record.validation_accuracy;
  row.test_accuracy = record.test_accuracy;
  row.steps = record.steps;
  row.seconds = record.seconds;
  return row;
}

std::vector<ResultRow> rows_of(const Study& study, Index& index) {
  std::vector<ResultRow> rows;
  for (const RunConfig& run : study.runs)
    if (const auto record = index.find(run.id)) rows.push_back(row_of(*record));
  return rows;
}

ReportSubject subject_of(const Study& study) {
  ReportSubject subject{.name = study.scale.empty() ? study.name : study.name + "-" + study.scale,
                        .title = study.title,
                        .scale = study.scale,
                        .figure = study.figure,
                        .chance = {},
                        .planned = study.runs.size()};
  if (!study.runs.empty()) subject.chance = study.runs.front().chance;
  for (const RunConfig& run : study.runs)
    if (run.chance != subject.chance) subject.chance.reset();
  return subject;
}

StudyReport write_report(const std::vector<ResultRow>& rows, const ReportSubject& subject, const Path& directory) {
  StudyReport report;
  report.windows = find_lr_windows(rows, {subject.figure.real("threshold"), subject.figure.real("share")});
  if (report.windows.runs == 0)
    throw Error(ErrorKind::data, subject.name,
                fmt::format("none of its {} runs has ended, expected at least one", subject.planned));
  report.directory = directory / subject.name;
  file_system().create_directories(report.directory);
  const Json figure =
      lr_window_figure(report.windows, {subject.title, setup_line(rows), subject.scale, subject.chance});
  report.page = report.directory / "report.html";
  const auto write = [&](const Path& file, const std::string& text) {
    write_file_atomically(file, text);
    report.files.push_back(file);
  };
  write(report.page, render_page(page_of(rows, subject, report.windows, figure)));
  Drawing drawing = draw_figure(figure, report.directory / "figure");
  report.files.insert(report.files.end(), drawing.written.begin(), drawing.written.end());
  report.messages = std::move(drawing.messages);
  write(report.directory / "windows.csv", to_csv(window_table(report.windows)));
  write(report.directory / "windows.tex", to_latex(window_table(report.windows)));
  write(report.directory / "rates.csv", to_csv(rate_table(report.windows)));
  if (const auto paired = paired_differences(report.windows); !paired.empty())
    write(report.directory / "paired.csv", to_csv(paired_table(paired)));
  write(report.directory / "runs.csv", to_csv(run_table(rows)));
  return report;
}

void print_report(const StudyReport& report, const ReportSubject& subject, bool json) {
  const auto counted = static_cast<std::size_t>(report.windows.runs);
  if (json) {
    Json files = Json::array(), series = Json::array(), paired = Json::array();
    for (const Path& file : report.files) files.push_back(file.string());
    for (const LrSeries& one : report.windows.series) series.push_back(series_json(one));
    for (const PairedDifference& one : paired_differences(report.windows)) paired.push_back(paired_json(one));
    print_json({{"title", subject.title},
                {"scale", subject.scale},
                {"runs", report.windows.runs},
                {"planned", subject.planned},
                {"page", report.page.string()},
                {"files", files},
                {"messages", report.messages},
                {"series", series},
                {"paired", paired}});
    return;
  }
  fmt::print("{}\n\n{}\n", subject.title, to_text(rate_table(report.windows)));
  for (const LrSeries& series : report.windows.series) fmt::print("{}\n", headline(series));
  if (counted < subject.planned) fmt::print("{} of {} runs have ended\n", counted, subject.planned);
  for (const std::string& message : report.messages) print_note(message);
  fmt::print("\nreport  {}\nfiles   {}\n", report.page.string(), report.directory.string());
}

}  // namespace mneme
