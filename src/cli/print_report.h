// A study's report on standard output.
#pragma once

#include "report/pages/study_report.h"

namespace mneme::cli {

// The tables, the findings and where the files are, on standard output; or one JSON document.
void print_report(const report::StudyReport& report, const report::ReportSubject& subject, bool json);

}  // namespace mneme::cli
