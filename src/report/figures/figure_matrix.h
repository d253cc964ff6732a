// kind = "matrix": which model passes under which condition (matrix.h), and what the paper says: ✓ or ✗ with the mean
// in per cent, the paper's verdict below, cells in which it is another outlined.
#pragma once

#include "report/figures/figure_kind.h"

namespace mneme::report {

FigureKind matrix_kind();

}  // namespace mneme::report
