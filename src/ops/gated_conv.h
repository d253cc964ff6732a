// Hyena's long convolution between its two gates, differentiable in all arguments:
//   z = (conv(v, kernel) + skip * v) * u_1,   v = u_0 * u_2,   u = [u_0 | u_1 | u_2]
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// u [B, L, 3C], kernel [K, C], skip [C] -> [B, L, C]. In one node of the graph on the float32 CPU path: the gradient of
// u is written where it belongs, not joined from three parts.
torch::Tensor gated_long_conv(const torch::Tensor& u, const torch::Tensor& kernel, const torch::Tensor& skip);

}  // namespace mneme::ops
