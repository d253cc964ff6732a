#include "report/pages/study_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "report/figures/render.h"
#include "report/pages/study_page.h"

namespace mneme::report {
namespace {

std::size_t ended(const std::vector<ResultRow>& rows) {
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_result));
}

// The name, or name-2, name-3, ... if it was given before.
std::string once(std::set<std::string>& given, const std::string& name) {
  std::string free = name;
  for (int i = 2; !given.insert(free).second; ++i) free = fmt::format("{}-{}", name, i);
  return free;
}

}  // namespace

ReportSubject subject_of(const study::Study& study) {
  ReportSubject subject{.name = study.file_name(),
                        .title = study.title,
                        .scale = study.scale,
                        .figures = figure_requests(study.figures),
                        .chance = {},
                        .planned = study.runs.size(),
                        .paper = study.paper,
                        .environments = {}};
  if (!study.runs.empty()) subject.chance = study.runs.front().chance;
  for (const config::RunConfig& run : study.runs)
    if (run.chance != subject.chance) subject.chance.reset();
  return subject;
}

StudyContent collect_study(const study::Study& study, store::Index& index, const store::Lab& lab,
                           const std::string& kind) {
  StudyContent content{subject_of(study), {}};
  if (!kind.empty()) content.subject.figures = {default_figure(kind)};
  content.rows = rows_of(study, content.subject.figures, index, lab);
  content.subject.claims = judge_claims(study.name, content.rows, study.runs);
  content.subject.environments = environments_of(content.rows, lab);
  content.subject.inspections = inspections_of(content.rows, lab);
  return content;
}

std::vector<FigureReport> build_figures(const std::vector<ResultRow>& rows, const ReportSubject& subject) {
  if (ended(rows) == 0)
    throw Error(ErrorKind::data, subject.name,
                fmt::format("none of its {} runs has ended, expected at least one", subject.planned));
  const FigureSubject about{.name = subject.name,
                            .title = subject.title,
                            .scale = subject.scale,
                            .chance = subject.chance,
                            .paper = subject.paper};
  std::vector<FigureReport> figures;
  for (const FigureRequest& request : subject.figures)
    figures.push_back(request.kind->build(rows, about, request.options));
  return figures;
}

StudyReport write_report(const std::vector<ResultRow>& rows, const ReportSubject& subject, const Path& directory) {
  StudyReport report;
  report.figures = build_figures(rows, subject);
  report.runs = ended(rows);
  report.directory = directory / subject.name;
  report.page = report.directory / "report.html";
  file_system().create_directories(report.directory);
  const auto write = [&](const Path& file, const std::string& text) {
    write_file_atomically(file, text);
    report.files.push_back(file);
  };
  const std::vector<ReportSection> own = sections_of(rows, subject, report.figures);
  ReportPage page{.title = subject.title,
                  .summary = "",
                  .facts = facts_of(rows, subject, report.figures),
                  .sections = own,
                  .footer = page_footer()};
  // Before the settings. The files of these figures are in the directories of the runs.
  page.sections.insert(page.sections.end() - 1, subject.inspections.details.begin(), subject.inspections.details.end());
  write(report.page, render_page(page));
  std::set<std::string> given;
  for (const ReportSection& section : own) {
    for (const ReportFigure& figure : section.figures) {
      Rendering rendering = render_figure(figure.specification, report.directory / once(given, "figure"));
      report.files.insert(report.files.end(), rendering.written.begin(), rendering.written.end());
      report.messages.insert(report.messages.end(), rendering.messages.begin(), rendering.messages.end());
    }
    for (const ReportTable& table : section.tables) {
      if (table.name.empty()) continue;
      const std::string name = once(given, table.name);
      // A table without lines has no file for machines: a reader of tables would stop at one that is empty.
      if (!table.records.empty()) write(report.directory / (name + ".csv"), to_csv(table.records));
      write(report.directory / (name + ".tex"), to_latex(table.table));
    }
  }
  return report;
}

}  // namespace mneme::report
