#include "report/pages/study_inspections.h"

#include <fmt/format.h>

#include <set>

#include "core/error.h"
#include "report/pages/inspection.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

constexpr std::size_t kMostDetailed = 4;  // runs with figures: a matrix alone is half a megabyte of page
constexpr std::size_t kMostOpen = 16;     // lines of a table that starts open

struct Inspected {
  InspectedRun run;
  std::string mixer;
  std::vector<ReportSection> sections;  // one an analysis
};

// The first run of each mixer, then the others, in the order of the rows.
std::vector<const Inspected*> detailed(const std::vector<Inspected>& all) {
  std::vector<const Inspected*> chosen, others;
  std::set<std::string> mixers;
  for (const Inspected& one : all) (mixers.insert(one.mixer).second ? chosen : others).push_back(&one);
  chosen.insert(chosen.end(), others.begin(), others.end());
  if (chosen.size() > kMostDetailed) chosen.resize(kMostDetailed);
  return chosen;
}

ReportSection overview_of(const std::vector<Inspected>& all) {
  ReportSection section{.title = "Inspections", .findings = {}, .figures = {}, .tables = {}};
  Table table{.columns = {{"run"}, {"model"}, {"analysis"}, {"found"}}, .rows = {}};
  Records records;
  for (const Inspected& one : all)
    for (const ReportSection& analysis : one.sections)
      for (const std::string& finding : analysis.findings) {
        table.rows.push_back({one.run.id, one.run.label, analysis.title, finding});
        records.push_back(
            {{"run", one.run.id}, {"model", one.run.label}, {"analysis", analysis.title}, {"found", finding}});
      }
  if (all.size() > kMostDetailed)
    section.findings.push_back(
        fmt::format("{} runs were inspected; figures of {} are below, those of every run are in its directory",
                    all.size(), kMostDetailed));
  const bool folded = table.rows.size() > kMostOpen;
  section.tables.push_back(
      {"What was found", std::move(table), "Made by mneme inspect.", folded, "inspections", std::move(records)});
  return section;
}

}  // namespace

StudyInspections inspections_of(const std::vector<ResultRow>& rows, const store::Lab& lab) {
  const std::vector<std::string> labels = series_labels(rows);
  std::vector<Inspected> all;
  std::vector<std::string> unreadable;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Inspected one{{rows[i].run, fmt::format("{}, lr {}, seed {}", labels[i], format_rate(learning_rate(rows[i])),
                                            seed_text(rows[i]))},
                  mixer_name(rows[i]),
                  {}};
    try {
      for (const InspectionResult& kept : kept_inspections(lab.run(rows[i].run).path()))
        one.sections.push_back(inspection_section(kept.analysis, kept.result, one.run));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      unreadable.push_back(fmt::format("{}; inspect it again: mneme inspect {}", error.what(), rows[i].run));
      continue;
    }
    if (!one.sections.empty()) all.push_back(std::move(one));
  }
  StudyInspections found;
  if (all.empty() && unreadable.empty()) return found;
  found.overview.push_back(overview_of(all));
  std::vector<std::string>& findings = found.overview.back().findings;
  findings.insert(findings.end(), unreadable.begin(), unreadable.end());
  for (const Inspected* one : detailed(all))
    for (ReportSection section : one->sections) {
      section.title = fmt::format("{}: {}", section.title, one->run.label);
      for (ReportFigure& figure : section.figures) figure.name = one->run.id + "-" + figure.name;
      found.details.push_back(std::move(section));
    }
  return found;
}

}  // namespace mneme::report
