// Series compared seed by seed.
//
// Equal seeds are the same data in the same order for every mixer (docs/studies.md), so two series of a sweep are
// paired: what a lucky seed gives to both cancels in the difference, and its standard error is that of the differences,
// d_s = test(first, s) - test(second, s), not of two independent means.
#pragma once

#include <vector>

#include "report/pages/records.h"
#include "report/pages/table.h"
#include "report/stats/lr_window.h"

namespace mneme::report {

struct PairedDifference {
  std::string first, second;               // labels of the series
  double first_rate = 0, second_rate = 0;  // equal, or each series' own best one
  bool at_best_rates = false;
  Summary difference;  // of test accuracy, first minus second; n counts the pairs
};

// Every two series, in their order: at each rate that both have, then at the rates that were chosen for each on
// validation. Seeds that only one of them has are left out, and so are those that one of them has more than
// once; a comparison without a pair is missing.
std::vector<PairedDifference> paired_differences(const LrWindows& windows);

// One line a comparison: series, rates, pairs, mean difference in percentage points, its standard error and confidence
// interval; and the same for machines.
Table paired_table(const std::vector<PairedDifference>& differences);
void add_paired_records(Records& records, const std::string& panel, const std::vector<PairedDifference>& differences);

}  // namespace mneme::report
