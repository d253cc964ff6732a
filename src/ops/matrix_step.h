// One token of a recurrence whose state is a matrix, without gradient (formula: kernels/scan/token_step.h).
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// S [B, H, K, V] is replaced by the next; one that is held elsewhere, too, stays as it is there. q, k [B, H, K]; v [B,
// H, V]; decay [B, H, K] or [B, H, 1], or undefined; beta [B, H], or undefined where nothing is removed. Returns [B, H,
// V]. float32 on the CPU only.
torch::Tensor matrix_step(torch::Tensor& S, const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                          const torch::Tensor& decay, const torch::Tensor& beta);

}  // namespace mneme::ops
