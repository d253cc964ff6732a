#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// The recurrence of src/kernels/scan/delta_rule.h with scale = K^-0.5:
// q [B, L, H, K], k [B, L, n, H, K], v [B, L, n, H, V], beta [B, L, n, H], g [B, L, H] or undefined -> [B, L, H, V].
// `normalise`: q and k are first divided by sqrt(|.|^2 + 1e-6).
// By kernels where use_kernels() allows it, by tensor operations otherwise.
torch::Tensor delta_rule(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                         const torch::Tensor& beta, const torch::Tensor& g, bool normalise);

// One token (the same without L), which moves S [B, H, K, V] on.
torch::Tensor delta_rule_step(torch::Tensor& S, const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                              const torch::Tensor& beta, const torch::Tensor& g, bool normalise);

}  // namespace mneme::ops
