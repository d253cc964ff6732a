// Causal convolution along the sequence with a kernel of any length, differentiable in both arguments:
//   y[b, t, c] = sum_{j <= t, j < K} kernel[j, c] * x[b, t-j, c]
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// x [B, L, C], kernel [K, C] -> [B, L, C]. On the float32 CPU path direct sums (causal to the bit) up to the
// length at which transforms are faster (kernels/conv/long_conv.h); transforms on every other path, where outputs
// before a changed token may move by rounding.
torch::Tensor long_conv(const torch::Tensor& x, const torch::Tensor& kernel);

}  // namespace mneme::ops
