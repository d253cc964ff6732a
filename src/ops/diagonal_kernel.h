// The convolution kernel of a diagonal state-space model, differentiable in its weights and poles.
#pragma once

#include "ops/complex_pair.h"

namespace mneme::ops {

// w and pole [H, n] in float64; returns kernel [L, H] = 2 Re sum_k w pole^j in the type of `like`, by the kernel if
// `like` takes the kernel path.
torch::Tensor diagonal_kernel(const ComplexPair& w, const ComplexPair& pole, std::int64_t length,
                              const torch::Tensor& like);

}  // namespace mneme::ops
