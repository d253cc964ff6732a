// Causal softmax attention as a differentiable operation on kernels.
#pragma once

#include "mixers/torch.h"

namespace mneme {

// qkv [B, L, 3D] -> [B, L, D] for H heads, scores scaled by 1/sqrt(D/H); float32 on the CPU.
torch::Tensor causal_attention(const torch::Tensor& qkv, std::int64_t heads);

}  // namespace mneme
