// The numbers of a learning-rate window study as tables.
#pragma once

#include <span>

#include "report/pages/records.h"
#include "report/pages/table.h"
#include "report/stats/lr_window.h"
#include "study/paper.h"

namespace mneme::report {

// One line per series: window, width in decades, its deviation and 95 % of it over resampled seeds, the window after a
// half and a quarter of the budget, the sensitivity to the rate (curves.h), the rate chosen on validation, its
// accuracies; and what the paper says, if it says something of any of them or `with_paper` asks for the column all the
// same.
Table window_table(const LrWindows& windows, std::span<const study::PaperValue> paper = {}, bool with_paper = false);

// One line for every two series: the difference of their windows in decades as seen, its spread over resampled seeds,
// and in how many draws the first is wider, equal or narrower; open: an end of the grid hides which
// (study/window_seeds.h).
Table comparison_table(const LrWindows& windows);

// One line per series and rate: n, mean, standard error, confidence interval, min, max, median, success rate.
Table rate_table(const LrWindows& windows);

// The same for machines; `panel` is the first column of each.
void add_window_records(Records& records, const std::string& panel, const LrWindows& windows,
                        std::span<const study::PaperValue> paper = {});
void add_comparison_records(Records& records, const std::string& panel, const LrWindows& windows);
void add_rate_records(Records& records, const std::string& panel, const LrWindows& windows);

}  // namespace mneme::report
