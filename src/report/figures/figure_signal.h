// kind = "signal": output of a model over a signal, a panel for each model.
//
// Input (grey), what is asked for (dashed) and the output of one run of each series: among its seeds at the chosen rate
// the one with the median validation accuracy (the lower of two). One figure for each signal that runs keep under a
// name.
#pragma once

#include "report/figures/figure_kind.h"

namespace mneme::report {

FigureKind signal_kind();

}  // namespace mneme::report
