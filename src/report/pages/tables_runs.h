// The runs of a report, and what they have in common, as tables.
#pragma once

#include <span>

#include "report/pages/records.h"
#include "report/pages/table.h"
#include "report/stats/rows.h"

namespace mneme::report {

// One line per run, also of runs that have not ended: id, series, rate, seed, outcome, accuracies, time.
Table run_table(std::span<const ResultRow> rows);

// One line a field of the configuration that all rows share.
Table settings_table(std::span<const ResultRow> rows);

// Both for machines; runs with every field of the configuration in which they differ.
Records run_records(std::span<const ResultRow> rows);
Records settings_records(std::span<const ResultRow> rows);

}  // namespace mneme::report
