// kind = "dynamics": loss and accuracy against training step, at the chosen rate of each series or at all of its rates.
//
// Above the loss, on the training batches (faint) and on validation; below validation accuracy; lines are means over
// seeds, bands their range. A stretch in which a run's validation loss drops without accuracy (loss_drop.h) is shaded.
#pragma once

#include "report/figures/figure_kind.h"

namespace mneme::report {

FigureKind dynamics_kind();

}  // namespace mneme::report
