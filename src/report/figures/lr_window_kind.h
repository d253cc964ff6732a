// kind = "lr-window": test accuracy against learning rate, and the window in which a mixer can be trained.
#pragma once

#include "report/figures/figure_kind.h"

namespace mneme::report {

FigureKind lr_window_kind();

}  // namespace mneme::report
