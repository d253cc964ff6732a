// Two linear layers with GELU between them.
#pragma once

#include "ops/linear.h"

namespace mneme::ops {

// x [.., D] -> second(gelu(first(x))) [.., D]; both layers have a bias.
torch::Tensor gelu_mlp(const torch::Tensor& x, const Linear& first, const Linear& second);

}  // namespace mneme::ops
