// How fast the mixers of a model forget, read off their parameters.
#pragma once

#include <utility>
#include <vector>

#include "train/parameters.h"

namespace mneme::train {

// The factor by which a state shrinks in a step, over all channels of all mixers that have one:
//   exp(-exp(A_log) softplus(dt))   mamba, s6, mamba2, gated_deltanet: dt is its bias, as if nothing came in
//   exp(-exp(log_A_real + log_dt))  s4d
//   exp(-exp(time_decay))           rwkv4, rwkv5
//   sigmoid(decay)                  ema
// Parameters are found by these names.
class Decays {
 public:
  explicit Decays(const FlatParameters& parameters);

  bool any() const { return !sources_.empty(); }
  // Smallest and largest, with the current weights; NaN without any of these mixers, or with a weight that is NaN.
  std::pair<float, float> range() const;

 private:
  enum class Kind { rate_and_bias, rate_and_log_step, rate, sigmoid };
  struct Source {
    Kind kind;
    std::int64_t rates, channels, per_channel;  // place of the rates, and how many: channels * per_channel
    std::int64_t steps;                         // place of the step sizes, one per channel, where there are any
  };

  const FlatParameters& parameters_;
  std::vector<Source> sources_;
};

}  // namespace mneme::train
