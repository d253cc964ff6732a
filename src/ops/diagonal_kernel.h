// The convolution kernel of a diagonal state-space model, differentiable in its weights and poles.
#pragma once

#include "ops/complex_pair.h"

namespace mneme::ops {

// w and pole [H, n] in float64; returns kernel [L, H] = 2 Re sum_k w pole^j in the type of `like`, by the kernel if
// `like` takes the kernel path.
torch::Tensor diagonal_kernel(const ComplexPair& w, const ComplexPair& pole, std::int64_t length,
                              const torch::Tensor& like);

// One token of the same model: state [B, H, n, 2] (re, im) becomes pole state + B x with x [B, H], and [B, H] = 2 Re
// sum_k C state is returned in its type. B, C and pole [H, n] in float64, and so is the arithmetic. The tensor that the
// state was stays as it is.
torch::Tensor diagonal_step(torch::Tensor& state, const torch::Tensor& x, const ComplexPair& pole, const ComplexPair& B,
                            const ComplexPair& C);

}  // namespace mneme::ops
