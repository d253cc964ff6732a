// A study as parts of a page: facts and sections.
#pragma once

#include <string>
#include <vector>

#include "report/pages/study_report.h"

namespace mneme::report {

// Setup, runs, scale, and what the figures decided how.
Facts facts_of(const std::vector<ResultRow>& rows, const ReportSubject& subject,
               const std::vector<FigureReport>& figures);

// Claims, then each figure with its tables, then what was found inside runs, then settings, environment and runs.
std::vector<ReportSection> sections_of(const std::vector<ResultRow>& rows, const ReportSubject& subject,
                                       const std::vector<FigureReport>& figures);

// "Mneme 0.1, 2025-03-01 12:00 UTC".
std::string page_footer();

}  // namespace mneme::report
