// The numbers of a learning-rate window study as tables.
#pragma once

#include <span>

#include "report/lr_window.h"
#include "report/table.h"

namespace mneme {

// One line a series: window, width in decades, the rate chosen on validation, its accuracies.
Table window_table(const LrWindows& windows);

// One line a series and rate: n, mean, standard error, min, max, median, success rate.
Table rate_table(const LrWindows& windows);

// One line a run, also of runs that have not ended: id, series, rate, seed, outcome, accuracies, time.
Table run_table(std::span<const ResultRow> rows);

}  // namespace mneme
