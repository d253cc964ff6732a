// Rows for machines: what the CSV file of a table holds.
//
// A table that people read has rounded numbers, units in its cells and two values in one cell ("99.6 ± 0.2"). Its
// records have one value a column, every digit of it, and the unit in the column's name (seconds, tokens, decades;
// accuracies are fractions).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/stats/statistics.h"

namespace mneme::report {

// Column -> text, number, truth value, or null where nothing is known; in the order in which they were set.
using Record = nlohmann::ordered_json;
using Records = std::vector<Record>;

// Adds NAME_mean, NAME_standard_error, NAME_ci95_low, NAME_ci95_high, NAME_median, NAME_min and NAME_max.
void add_summary(Record& record, const std::string& name, const Summary& summary);
// The same for accuracies, whose interval is within [0, 1].
void add_score(Record& record, const std::string& name, const Summary& summary);

// RFC 4180: comma-separated, CRLF, cells quoted where needed. The first line has every column that some record has, in
// the order in which they first appear, `columns` before them; a record without one has an empty cell there, as for
// null. Neither records nor columns: "".
std::string to_csv(const Records& records, const std::vector<std::string>& columns = {});

}  // namespace mneme::report
