// What `mneme inspect` found in the runs of a report.
#pragma once

#include <vector>

#include "report/pages/html.h"
#include "report/stats/rows.h"
#include "store/lab.h"

namespace mneme::report {

struct StudyInspections {
  std::vector<ReportSection> overview;  // a table of all findings; none if no run was inspected
  // Figures and tables of some runs: the first of each mixer, then others, few in all. Their files are in the
  // directories of the runs.
  std::vector<ReportSection> details;
};

// A run whose kept results cannot be read is named in the overview with the reason, and left out.
StudyInspections inspections_of(const std::vector<ResultRow>& rows, const store::Lab& lab);

}  // namespace mneme::report
