// Kept evaluations as a report: figures with bands over seeds, tables, a page.
#pragma once

#include <string>
#include <vector>

#include "report/pages/study_report.h"
#include "store/index.h"

namespace mneme::cli {

struct KeptEvaluation {
  store::RunRecord record;
  Json evaluation;  // evaluations/NAME.json
};

// Writes lab/reports/evaluate-NAME. Along an axis: accuracy against it, the training range marked. Where the task knows
// them, accuracy by position and by distance, at the last value of the axis.
report::StudyReport report_evaluations(const std::vector<KeptEvaluation>& kept, const std::string& name,
                                       const store::Lab& lab);

// One row for each point of each run: scores, how it was read, speed and memory.
report::Table point_table(const std::vector<KeptEvaluation>& kept);

// The phase tests of every point that has them.
report::Table phase_table(const std::vector<KeptEvaluation>& kept);

}  // namespace mneme::cli
