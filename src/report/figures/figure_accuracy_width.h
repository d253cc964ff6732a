// kind = "accuracy-width": test accuracy at the best rate against the model's width, a panel for each length.
//
// Solid: the rate chosen from the whole grid, with its range over seeds. Dotted: the rate chosen among those that
// represent `marks` alone, as a coarser grid would have; a mark means the nearest rate of the grid, if that is less
// than 0.13 decades away. Stars: the paper's values.
#pragma once

#include <optional>
#include <vector>

#include "report/figures/figure_kind.h"
#include "report/stats/lr_window.h"

namespace mneme::report {

// The best of the points that represent marks; nothing if none does.
std::optional<std::size_t> best_marked_rate(const std::vector<RatePoint>& points, const std::vector<double>& marks);

FigureKind accuracy_width_kind();

}  // namespace mneme::report
