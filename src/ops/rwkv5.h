#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// The recurrence of src/kernels/scan/rwkv5.h: r, k, v [B, L, H, N], d, u [H, N] -> [B, L, H, N].
// By kernels where use_kernels() allows it, by tensor operations otherwise.
torch::Tensor rwkv5_scan(const torch::Tensor& r, const torch::Tensor& k, const torch::Tensor& v, const torch::Tensor& d,
                         const torch::Tensor& u);

// One token, r, k, v [B, H, N], which moves S [B, H, N, N] on.
torch::Tensor rwkv5_step(torch::Tensor& S, const torch::Tensor& r, const torch::Tensor& k, const torch::Tensor& v,
                         const torch::Tensor& d, const torch::Tensor& u);

}  // namespace mneme::ops
