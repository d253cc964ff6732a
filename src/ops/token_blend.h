// Blends of every token with its predecessor by the kernel, differentiable.
#pragma once

#include <vector>

#include "ops/torch.h"

namespace mneme::ops {

// x [B, L, D], shares [M, D] -> M blends x[t] + share * (x[t-1] - x[t]), each [B, L, D]. Where use_kernels(x) allows
// it.
std::vector<torch::Tensor> token_blend(const torch::Tensor& x, const torch::Tensor& shares);

}  // namespace mneme::ops
