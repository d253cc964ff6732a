// Causal softmax attention as differentiable operations on kernels: float32 on the CPU, scores scaled by 1/sqrt(D/H)
// for H heads.
#pragma once

#include "mixers/torch.h"

namespace mneme {

// qkv [B, L, 3D] -> [B, L, D].
torch::Tensor causal_attention(const torch::Tensor& qkv, std::int64_t heads);

// The same for some positions, `rows` [R] in [B * L], ascending: their queries q [R, D], and kv [B, L, 2D] of all ->
// [R, D].
torch::Tensor causal_attention_of_rows(const torch::Tensor& q, const torch::Tensor& kv, const torch::Tensor& rows,
                                       std::int64_t heads);

}  // namespace mneme
