// The selective scan of Mamba as a differentiable operation (formula: kernels/scan/selective_scan.h).
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// u, pre [B, L, E]; A [E, N], not positive; Bm, Cm [B, L, N]; D [E]; z [B, L, E] or undefined. Returns y [B, L, E].
torch::Tensor selective_scan(const torch::Tensor& u, const torch::Tensor& pre, const torch::Tensor& A,
                             const torch::Tensor& Bm, const torch::Tensor& Cm, const torch::Tensor& D,
                             const torch::Tensor& z);

// One token of the same: h [B, E, N] is moved on; u, pre, z [B, E], Bm, Cm [B, N].
torch::Tensor selective_scan_step(torch::Tensor& h, const torch::Tensor& u, const torch::Tensor& pre,
                                  const torch::Tensor& A, const torch::Tensor& Bm, const torch::Tensor& Cm,
                                  const torch::Tensor& D, const torch::Tensor& z);

}  // namespace mneme::ops
