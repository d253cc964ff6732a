#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// The inputs of src/kernels/scan/rwkv7.h, each [B, L, H, N].
struct Rwkv7Streams {
  torch::Tensor r, w, k, v, a, b;
};

// The recurrence -> [B, L, H, N]. By kernels where use_kernels() allows it, by tensor operations otherwise.
torch::Tensor rwkv7_scan(const Rwkv7Streams& streams);

// The token at position t, which moves S [B, H, N, N] on -> [B, H, N].
torch::Tensor rwkv7_step(torch::Tensor& S, const Rwkv7Streams& streams, std::int64_t t);

}  // namespace mneme::ops
