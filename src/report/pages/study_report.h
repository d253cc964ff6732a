// From the rows of a study to a report's files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/claims/claims.h"
#include "report/figures/kinds.h"
#include "report/pages/html.h"
#include "report/pages/study_inspections.h"
#include "report/pages/study_rows.h"

namespace mneme::report {

// What a report says in addition to its rows.
struct ReportSubject {
  std::string name;  // of the directory in reports/
  std::string title;
  std::string scale;
  std::vector<FigureRequest> figures;
  std::optional<double> chance;  // if it is the same for all runs
  std::size_t planned = 0;       // runs that the study has
  std::vector<study::PaperValue> paper;
  std::vector<Environment> environments;
  std::vector<JudgedClaim> claims = {};  // of a paper, on these rows
  StudyInspections inspections = {};
};

struct StudyReport {
  Path directory;
  Path page;
  std::vector<Path> files;            // all that was written, the page first
  std::vector<std::string> messages;  // what could not be drawn, and why
  std::vector<FigureReport> figures;  // as the subject asks for them
  std::size_t runs = 0;               // that have ended
};

ReportSubject subject_of(const study::Study& study);

// A study as a lab has it: what its report is made of.
struct StudyContent {
  ReportSubject subject;  // with the claims that the rows were judged by, their machines and what was found inside them
  std::vector<ResultRow> rows;
};

// The one way from a study to its report: `mneme report`, `demo` and `reproduce` all take it. `kind` replaces the
// figures of the study by one of that kind; "": they stay.
StudyContent collect_study(const study::Study& study, store::Index& index, const store::Lab& lab,
                           const std::string& kind = "");

// What the figures of a study say, without writing anything: the sections of a page. Throws Error(data) if no run has
// ended.
std::vector<FigureReport> build_figures(const std::vector<ResultRow>& rows, const ReportSubject& subject);

// Writes the page, the figures and the tables into `directory` / subject.name. Throws Error(data) if no run has ended.
StudyReport write_report(const std::vector<ResultRow>& rows, const ReportSubject& subject, const Path& directory);

}  // namespace mneme::report
