#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// The weighted average of src/kernels/scan/wkv.h: k, v [B, L, C], w, u [C] -> [B, L, C].
// By kernels where use_kernels() allows it, by tensor operations otherwise.
torch::Tensor wkv(const torch::Tensor& k, const torch::Tensor& v, const torch::Tensor& w, const torch::Tensor& u);

// Its recurrent form. State: p, q, o [B, C]; numerator p e^o and denominator q e^o of the past.
struct WkvState {
  torch::Tensor p, q, o;
  static WkvState initial(std::int64_t batch, std::int64_t channels, const torch::TensorOptions& options);
};
// One token: k, v [B, C] -> [B, C].
torch::Tensor wkv_step(WkvState& state, const torch::Tensor& k, const torch::Tensor& v, const torch::Tensor& w,
                       const torch::Tensor& u);

}  // namespace mneme::ops
