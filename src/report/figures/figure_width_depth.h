// kind = "width-depth": test accuracy at the best rate against the number of parameters.
//
// A symbol is one width and depth of a series; colour is the series, the symbol's shape the depth, widths of one
// depth are joined, and each symbol bears its width. The number of parameters is values.parameters of the runs.
#pragma once

#include "report/figures/figure_kind.h"

namespace mneme::report {

FigureKind width_depth_kind();

}  // namespace mneme::report
