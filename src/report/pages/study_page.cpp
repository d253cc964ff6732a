#include "report/pages/study_page.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>

#include "core/code_identity.h"
#include "report/pages/tables_runs.h"

namespace mneme::report {
namespace {

Table environment_table(const std::vector<Environment>& environments) {
  Table table{.columns = {{"environment"}, {"value"}, {"runs", Align::right}}, .rows = {}};
  for (const Environment& environment : environments)
    for (const auto& [name, value] : environment.fingerprint.items())
      table.rows.push_back(
          {name, value.is_string() ? value.get<std::string>() : value.dump(), std::to_string(environment.runs)});
  return table;
}

}  // namespace

Facts facts_of(const std::vector<ResultRow>& rows, const ReportSubject& subject,
               const std::vector<FigureReport>& figures) {
  Facts facts = {{"Setup", setup_line(rows)},
                 {"Runs", fmt::format("{} ended, {} planned", std::count_if(rows.begin(), rows.end(), is_result),
                                      subject.planned)}};
  if (!subject.scale.empty()) facts.emplace_back("Scale", subject.scale);
  std::set<std::string> told;
  for (const FigureReport& figure : figures)
    for (const auto& rule : figure.rules)
      if (told.insert(rule.first + rule.second).second) facts.push_back(rule);
  facts.emplace_back("Selection", "rates are chosen on the validation split, the test split is reported");
  return facts;
}

std::vector<ReportSection> sections_of(const std::vector<ResultRow>& rows, const ReportSubject& subject,
                                       const std::vector<FigureReport>& figures) {
  std::vector<ReportSection> sections;
  if (!subject.claims.empty())
    sections.emplace_back().tables.push_back(
        {"Claims", claim_table(subject.claims),
         "What the paper states, judged on these runs at this scale; rules in docs/claims.md.", false, "claims",
         claim_records(subject.claims)});
  for (const FigureReport& figure : figures)
    sections.push_back({.title = "", .findings = figure.findings, .figures = figure.figures, .tables = figure.tables});
  sections.insert(sections.end(), subject.inspections.overview.begin(), subject.inspections.overview.end());
  ReportSection& last = sections.emplace_back();
  last.tables.push_back(
      {"Settings", settings_table(rows), "What all runs have in common.", true, "settings", settings_records(rows)});
  if (!subject.environments.empty())
    last.tables.push_back(
        {"Environment", environment_table(subject.environments), "Where the runs were made.", true, ""});
  last.tables.push_back({"Runs", run_table(rows), "", true, "runs", run_records(rows)});
  return sections;
}

std::string page_footer() {
  return fmt::format("Mneme {}, {:%Y-%m-%d %H:%M} UTC", describe(this_code()), fmt::gmtime(std::time(nullptr)));
}

}  // namespace mneme::report
