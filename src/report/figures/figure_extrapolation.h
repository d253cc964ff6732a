// kind = "extrapolation": accuracy against the value of a generalisation axis (longer blanks, longer patterns, ...),
// the end of the training range as a dashed vertical rule.
//
// One figure for each axis that the runs were tested along. A line is the mean over the seeds of a series at its chosen
// rate, the band its range; stars are the paper's values (`at` of [[paper]]).
#pragma once

#include "report/figures/figure_kind.h"

namespace mneme::report {

FigureKind extrapolation_kind();

}  // namespace mneme::report
