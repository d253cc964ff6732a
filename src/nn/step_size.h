// The usual initial step sizes of state-space layers: log-uniform in [dt_min, dt_max], floored, and kept as what
// softplus must be given to return them.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "core/schema.h"

namespace mneme::nn {

struct StepSizes {
  double low, high, floor;

  explicit StepSizes(const Options& options)
      : low(options.real("dt_min")), high(options.real("dt_max")), floor(options.real("dt_init_floor")) {}

  double draw(Random& random) const {
    const double step = std::max(std::exp(std::log(low) + random.uniform() * (std::log(high) - std::log(low))), floor);
    return step + std::log(-std::expm1(-step));
  }
};

}  // namespace mneme::nn
