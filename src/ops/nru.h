// A non-saturating recurrent unit over whole sequences, time first: products step by step, the rest of a step in
// kernels, the gradients of the weights as products over all steps. float32 on the CPU; states start at zero.
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

struct NruShape {
  std::int64_t hidden, memory, heads, side;  // H, M, k, s
  bool relu;                                 // on gates and vectors
};

// a [L, B, H] is what p has of the input, o [L, B, 2k+4s] what the head maps have of it; W [H, H+M] and U [2k+4s, H+M]
// read the state. gain and shift [H] of the LayerNorm; both undefined: none. Returns h [L, B, H].
torch::Tensor nru_layer(const NruShape& shape, const torch::Tensor& a, const torch::Tensor& o, const torch::Tensor& W,
                        const torch::Tensor& U, const torch::Tensor& gain, const torch::Tensor& shift);

// The literal variant: a [L, B, H+2+2M], W [H+2+2M, H+M]. Returns h [L, B, H].
torch::Tensor nru_plain_layer(const NruShape& shape, const torch::Tensor& a, const torch::Tensor& W);

}  // namespace mneme::ops
