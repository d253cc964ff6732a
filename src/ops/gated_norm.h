// RMSNorm of parts of the channels with a SiLU gate before or after it, as tensor operations or as a kernel.
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

enum class GatePlace { after, before };

// x [.., P, C], each part of C channels normed alone; weight [C], [P * C] or undefined; gate [.., P * C] or undefined.
//   after: norm(x) * weight * silu(gate)      before: norm(x * silu(gate)) * weight
// -> [.., P * C]
torch::Tensor gated_norm(const torch::Tensor& x, const torch::Tensor& weight, double eps, const torch::Tensor& gate,
                         GatePlace place);

}  // namespace mneme::ops
