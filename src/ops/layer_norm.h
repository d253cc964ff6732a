// LayerNorm of a residual stream, together with what is added to it before.
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

struct NormedSum {
  torch::Tensor sum, normal;  // a + b, and its norm
};

// a and b [.., D]; b may be undefined, the sum is then a. If `positions` [R] in [B * L] of a [B, L, D] are given,
// ascending and each once, the sum is that of those alone: [R, D].
NormedSum add_and_norm(const torch::Tensor& a, const torch::Tensor& b, const torch::nn::LayerNorm& norm,
                       const torch::Tensor& positions = {});

inline torch::Tensor normed(const torch::Tensor& x, const torch::nn::LayerNorm& norm) {
  return add_and_norm(x, {}, norm).normal;
}

}  // namespace mneme::ops
