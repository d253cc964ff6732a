// Sudden drops of the validation loss, and whether accuracy came with them.
//
// Let l_i be the validation loss at the run's evaluations, each replaced by the median of itself and its two
// neighbours. Three evaluations in a row are *flat* if their losses differ by at most `flat` times the first of them.
// A *drop* goes from a to b: the three that end at a are flat, those that end at a + 1 are not; b is the first
// evaluation after a with which a flat three begins, or the last of the run; and l_b <= (1 - depth) l_a. Its *gain* is
// the highest validation accuracy from a to b, less that at a. A drop whose gain is below `gain` is a *loss bump*: the
// model learnt something that does not answer the question. What falls from the first evaluation on has no plateau
// before it and is not a drop. What a plateau is depends on how often a run is evaluated: compare runs with the same
// train.eval_every.
#pragma once

#include <cstdint>
#include <vector>

#include "report/stats/rows.h"

namespace mneme::report {

struct LossDropRule {
  double flat = 0.01;
  double depth = 0.05;
  double gain = 0.05;
};

struct LossDrop {
  std::int64_t from = 0, to = 0;  // steps
  double loss_from = 0, loss_to = 0;
  double gain = 0;
  bool bump = false;  // without accuracy
};

// By step. Evaluations whose loss or accuracy is not finite are passed over.
std::vector<LossDrop> find_loss_drops(const std::vector<MetricPoint>& points, const LossDropRule& rule = {});

}  // namespace mneme::report
