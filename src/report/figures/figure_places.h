// kind = "by-distance", "by-position": where in the sequence answers of the test split are right.
//
// Accuracy against the distance from a query to its answer, in bins that double, or against the position
// of the question. A line is the mean over the seeds of a series at its chosen rate, the band its range.
#pragma once

#include "report/figures/figure_kind.h"

namespace mneme::report {

FigureKind by_distance_kind();
FigureKind by_position_kind();

}  // namespace mneme::report
