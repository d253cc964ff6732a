// The results of `mneme inspect` in a run's directory:
//   inspect/ANALYSIS.json       the numbers of one analysis, and what they were made from
//   inspect.json                every analysis as a section: what the dashboard shows
//   inspect/NAME.{vl.json,svg,png}, inspect/NAME.csv   its figures and tables
#pragma once

#include <string>
#include <vector>

#include "core/files.h"
#include "report/figures/inspections.h"
#include "report/figures/render.h"

namespace mneme::report {

struct InspectionResult {
  std::string analysis;
  std::int64_t step = 0;      // of training
  std::int64_t examples = 0;  // of the test split
  Json result;
};

// Those that were kept in the directory, in the order of the catalog; of the newest step only, but for what is of the
// record of the training.
std::vector<InspectionResult> kept_inspections(const Path& run_directory);

// Adds these results to those that are there, and rewrites everything; several processes take turns. Returns what could
// not be drawn.
std::vector<std::string> keep_inspections(const Path& run_directory, const InspectedRun& run,
                                          const std::vector<InspectionResult>& results, const RenderTools& tools = {});

}  // namespace mneme::report
