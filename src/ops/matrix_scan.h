// Running products of matrices, differentiable.
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// m [B, L, N, N] -> [B, L, N, N], entry t the product of the first t + 1 matrices, the newest on the right.
torch::Tensor running_products(const torch::Tensor& m);

}  // namespace mneme::ops
