// The token shift of the RWKV family: every stream is a per-channel blend of a token and its predecessor.
#pragma once

#include <vector>

#include "ops/torch.h"

namespace mneme::nn {

// A blend for each share: token + share * (its predecessor - token). x and previous [B, L, D], shares of D numbers.
std::vector<torch::Tensor> token_blends(const torch::Tensor& x, const torch::Tensor& previous,
                                        const std::vector<torch::Tensor>& shares);
// The same within sequences: the predecessor of x[t] is x[t-1], zeros at t = 0.
std::vector<torch::Tensor> token_blends(const torch::Tensor& x, const std::vector<torch::Tensor>& shares);

// The depth of a layer, as RWKV's initial values need it.
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

}  // namespace mneme::nn
