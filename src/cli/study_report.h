// From the runs of a lab to a report's files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/schema.h"
#include "report/lr_window.h"
#include "report/rows.h"
#include "store/index.h"
#include "study/study.h"

namespace mneme {

// What a report says besides its rows.
struct ReportSubject {
  std::string name;  // of the directory in reports/
  std::string title;
  std::string scale;
  Options figure;                // study/study.h: figure_schema()
  std::optional<double> chance;  // if it is the same for all runs
  std::size_t planned = 0;       // runs that the study has
};

struct StudyReport {
  Path directory;
  Path page;
  std::vector<Path> files;            // all that was written, the page first
  std::vector<std::string> messages;  // what could not be drawn, and why
  LrWindows windows;
};

// n, mean, standard_error (null for one value), min, max, median, success_rate.
Json statistics_json(const Summary& summary);

ResultRow row_of(const RunRecord& record);

// The runs of a study that the lab has; of all others nothing is known.
std::vector<ResultRow> rows_of(const Study& study, Index& index);
ReportSubject subject_of(const Study& study);

// Writes the page, the figure and the tables into `directory` / subject.name. Throws Error(data) if no run
// has ended.
StudyReport write_report(const std::vector<ResultRow>& rows, const ReportSubject& subject, const Path& directory);

// The tables, the windows and where the files are, on standard output; or one JSON document.
void print_report(const StudyReport& report, const ReportSubject& subject, bool json);

}  // namespace mneme
