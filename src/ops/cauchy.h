// Cauchy sums on the roots of unity, differentiable (src/kernels/conv/cauchy.h has the formula).
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// u [V, H, n] and a [H, n], complex128, M nodes -> [V, H, M/2 + 1] complex128; by the kernel if `kernels`.
torch::Tensor cauchy_sums(const torch::Tensor& u, const torch::Tensor& a, std::int64_t nodes, bool kernels);

// (1 + w) / 2 at the same nodes.
torch::Tensor half_sum_nodes(std::int64_t nodes, const torch::TensorOptions& options);

}  // namespace mneme::ops
