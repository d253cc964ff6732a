// The token shift of the RWKV family: every stream is a per-channel blend of a token and its predecessor.
#pragma once

#include "mixers/torch.h"

namespace mneme {

// x [B, L, D] moved one token on: position t holds x[t-1], position 0 zeros.
inline torch::Tensor previous_tokens(const torch::Tensor& x) {
  return torch::cat({torch::zeros_like(x.narrow(1, 0, 1)), x.narrow(1, 0, x.size(1) - 1)}, 1);
}

// How deep a layer stands, as RWKV's initial values want it.
struct LayerRatios {
  double rising, falling;  // 0 .. 1 over the layers; 1 .. 1/layers
  LayerRatios(std::int64_t layer, std::int64_t layers)
      : rising(layers > 1 ? static_cast<double>(layer) / static_cast<double>(layers - 1) : 0.0),
        falling(1.0 - static_cast<double>(layer) / static_cast<double>(layers)) {}
};

// c / (D - 1), and 0 for the only channel of a one-channel model.
inline double channel_position(std::int64_t c, std::int64_t D) {
  return D > 1 ? static_cast<double>(c) / static_cast<double>(D - 1) : 0.0;
}

}  // namespace mneme
