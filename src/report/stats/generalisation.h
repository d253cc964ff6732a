// How runs do beyond what they were trained on: values.generalisation of their summaries, read and checked.
//
//   {"axis": "blanks", "points": [{"value": 50, "accuracy": 0.98, "exact_match": 0.9}, ...]}
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/stats/rows.h"
#include "report/stats/statistics.h"

namespace mneme::report {

// The axis that a run was, or would have been, tested along: what its summary says, else test.along of its config;
// "" if neither says.
std::string generalisation_axis(const ResultRow& row);

// The metric at each value of the axis; empty if the run was not tested. A metric that is null was not finite
// and counts 0. Throws Error(data) naming the run for anything but fractions from 0 to 1 at numbers.
std::map<double, double> generalisation_points(const ResultRow& row, const std::string& metric);

// The largest value of the axis in training: the task's option of that name, or the largest of its list.
std::optional<double> trained_up_to(const ResultRow& row, const std::string& axis);

// The runs of a cell together, by value. One that diverged or failed was never tested and counts 0 wherever another
// of these runs was tested; one that is done but was not tested does not count.
std::map<double, Summary> generalisation_summary(const std::vector<const ResultRow*>& rows, const std::string& metric,
                                                 double threshold);

}  // namespace mneme::report
