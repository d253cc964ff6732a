// Causal softmax attention as differentiable operations on kernels: float32 on the CPU, scores scaled by 1/sqrt(D/H)
// for H heads.
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// qkv [B, L, 3D] -> [B, L, D].
torch::Tensor causal_attention(const torch::Tensor& qkv, std::int64_t heads);

// The same for some `positions` [R] in [B * L], ascending: their queries q [R, D], and kv [B, L, 2D] of all ->
// [R, D].
torch::Tensor causal_attention_at(const torch::Tensor& q, const torch::Tensor& kv, const torch::Tensor& positions,
                                  std::int64_t heads);

// What an attention layer multiplies with; the first bias may be undefined.
struct AttentionWeights {
  torch::Tensor in, in_bias, out, out_bias;  // [3D, D], [3D], [D, D], [D]
};

// The whole layer in one operation, x [B, L, D] -> [B, L, D]; with `positions` as above -> [R, D]. For D <=
// kFusedWidth.
inline constexpr std::int64_t kFusedWidth = 256;
torch::Tensor attention_layer(const torch::Tensor& x, const c10::optional<torch::Tensor>& positions,
                              const AttentionWeights& weights, std::int64_t heads);

}  // namespace mneme::ops
