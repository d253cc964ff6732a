// Rows of tables by the kernel, differentiable in the tables.
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// table [V, D] and tokens [B, L] (int32, contiguous) -> [B, L, D]; with a table of positions [P, D], its rows
// [start, start + L) are added. Where use_kernels(table) allows it.
torch::Tensor lookup(const torch::Tensor& table, const torch::Tensor& tokens, const torch::Tensor& positions = {},
                     std::int64_t start = 0);

}  // namespace mneme::ops
