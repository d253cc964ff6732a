// kind = "cost-to-solve": tokens of training until a run solves the task, against the learning rate.
#pragma once

#include "report/figures/figure_kind.h"

namespace mneme::report {

FigureKind cost_kind();

}  // namespace mneme::report
