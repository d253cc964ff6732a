// The feature map of Based as a differentiable operation (formula: kernels/taylor_features.h).
#pragma once

#include "mixers/torch.h"

namespace mneme {

// x [.., F] -> [.., 1 + F + F (F + 1) / 2]
torch::Tensor taylor_features(const torch::Tensor& x);

}  // namespace mneme
