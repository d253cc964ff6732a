// Curves of chosen runs over each other: one plot per metric, one line per run.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "report/pages/records.h"
#include "report/stats/rows.h"

namespace mneme::report {

struct RunCurves {
  ResultRow row;
  std::vector<Json> evaluations;  // lines of metrics.jsonl
  std::string label = {};         // by name_curves()
};

// Names each run by what tells it apart from the others: mixer, options, rate, seed; its id where that is not enough.
void name_curves(std::vector<RunCurves>& runs);

// The names of all numbers that some evaluation has, sorted.
std::vector<std::string> curve_metrics(const std::vector<RunCurves>& runs);

struct CurvesText {
  std::string title;
  bool logarithmic = false;  // the vertical axis of what is not a share
};
// Validation and training metrics against the step, in the order of `metrics`. Equal runs give equal bytes.
Json run_curves_figure(const std::vector<RunCurves>& runs, const std::vector<std::string>& metrics,
                       const CurvesText& text);
// One row per run and evaluation.
Records run_curves_records(const std::vector<RunCurves>& runs, const std::vector<std::string>& metrics);

}  // namespace mneme::report
