// The usual initial step sizes of state-space layers: log-uniform in [1e-3, 0.1], floored at 1e-4, and
// kept as what softplus must be given to return them.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace mneme {

inline double initial_step_size(Random& random) {
  const double low = std::log(1e-3), high = std::log(0.1);
  const double step = std::max(std::exp(low + random.uniform() * (high - low)), 1e-4);
  return step + std::log(-std::expm1(-step));
}

}  // namespace mneme
