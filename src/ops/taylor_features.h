// The feature map of Based as a differentiable operation (formula: kernels/attention/taylor_features.h).
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// x [.., F] -> [.., 1 + F + F (F + 1) / 2]
torch::Tensor taylor_features(const torch::Tensor& x);

}  // namespace mneme::ops
