// gated_norm: RMSNorm over parts of a token's channels, and a SiLU gate before or after it.
//
//   gate after:   y = n(x) * weight * silu(g)          n(u)[c] = u[c] / sqrt(mean_c u[c]^2 + eps), over each part alone
//   gate before:  y = n(x * silu(g)) * weight          without g: y = n(x) * weight
// x, y, their gradients and dgate [T, P, C], contiguous; the gate has P * C floats per token, at any stride; weight
// [C], shared by the parts, or [P, C], or null. float32. Outputs are overwritten and must not alias inputs. Tokens are
// independent; dweight sums tokens in order, 64 of them in float32 and those sums in double.
#pragma once

#include <cstddef>

#include "kernels/simd/aligned_floats.h"

namespace mneme::kernels {

struct GatedNormInput {
  std::size_t T, P, C;
  float eps;
  const float* x;
  const float* weight;  // or null
  bool shared_weight;   // [C], not [P, C]
  Rows gate;            // .data null: none
  bool gate_before;

  std::size_t weight_size() const { return shared_weight ? C : P * C; }
};

struct GatedNormGradients {
  float* dx;
  float* dgate;    // null without gate
  float* dweight;  // null without weight
};

// out is y above, dout its gradient.
void gated_norm(const GatedNormInput& in, float* out);
void gated_norm_backward(const GatedNormInput& in, const float* dout, const GatedNormGradients& gradients);

void gated_norm_reference(const GatedNormInput& in, float* out);
void gated_norm_backward_reference(const GatedNormInput& in, const float* dout, const GatedNormGradients& gradients);

}  // namespace mneme::kernels
