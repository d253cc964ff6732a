// The convolution kernel of a diagonal state-space model, differentiable in its weights and poles.
#pragma once

#include "ops/complex_pair.h"

namespace mneme::ops {

// w and pole [H, n] in float64; returns kernel [L, H] = 2 Re sum_k w pole^j in the type of `like`, by the kernel if
// `like` takes the kernel path.
torch::Tensor diagonal_kernel(const ComplexPair& w, const ComplexPair& pole, std::int64_t length,
                              const torch::Tensor& like);

// The same model token by token.
class DiagonalStep {
 public:
  DiagonalStep() = default;
  // [H, n] in float64 each.
  DiagonalStep(const ComplexPair& pole, const ComplexPair& B, const ComplexPair& C);

  // state [B, H, n, 2] (re, im) becomes pole state + B x with x [B, H]; returns [B, H] = 2 Re sum_k C state. A state
  // that is held elsewhere, too, stays as it is there.
  torch::Tensor operator()(torch::Tensor& state, const torch::Tensor& x) const;

 private:
  ComplexPair pole_, B_, C_;
  torch::Tensor coefficients_;  // [6, H, n, 2]: what the kernel reads (kernels/scan/token_step.h)
};

}  // namespace mneme::ops
