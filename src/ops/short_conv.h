// A depthwise convolution with few taps, differentiable.
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// x [B, L, C], weight [C, 1, W], bias [C] or undefined -> [B, L, C]. The last tap multiplies the newest token that is
// read, `ahead` tokens after the output's own. With silu, y * sigmoid(y) of the result.
torch::Tensor short_conv(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                         std::int64_t ahead, bool silu);

// One token of the causal one: x [B, C] after the window [B, W - 1, C] of the tokens before it, oldest first. The
// window is replaced by the next; the tensor that it was stays as it is.
torch::Tensor short_conv_step(torch::Tensor& window, const torch::Tensor& x, const torch::Tensor& weight,
                              const torch::Tensor& bias, bool silu);

// x itself, with a gradient of zero.
torch::Tensor without_gradient(const torch::Tensor& x);

}  // namespace mneme::ops
