// kind = "lr-window": test accuracy against learning rate, and the window in which a mixer can be trained.
#pragma once

#include "report/figure_kind.h"

namespace mneme {

FigureKind lr_window_kind();

}  // namespace mneme
