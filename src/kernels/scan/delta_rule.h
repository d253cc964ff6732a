// delta_rule: a matrix state per head that is corrected towards v along k, with optional decay.
//
// For each sequence and head, S [K, V] starts at zero; per token
//   S <- exp(g) S                                        (if g is given)
//   for j in 0..n-1:  e = v_j - S^T k_j;  S <- S + beta_j k_j e^T
//   o = scale * S^T q
// With `normalise`, q and each k_j are first divided by sqrt(|.|^2 + 1e-6).
// q [B, L, H, K], k [B, L, n, H, K], v [B, L, n, H, V], beta [B, L, n, H], g [B, L, H], o [B, L, H, V]:
// float32, contiguous, last index innermost, no aliasing. Tokens are processed in order, so the output of a
// token depends on the bits of earlier tokens only.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct DeltaRuleShape {
  std::size_t B, L, n, H, K, V;

  // Tokens between two kept states; the backward pass recomputes those between.
  std::size_t chunk() const { return n < 32 ? 32 / n : 1; }
  std::size_t states_size() const { return B * H * ((L + chunk() - 1) / chunk()) * K * V; }
  std::size_t errors_size() const { return B * L * n * H * V; }
};

struct DeltaRuleInput {
  DeltaRuleShape shape;
  const float *q, *k, *v, *beta;
  const float* g;  // nullptr: no decay
  float scale;
  bool normalise;
};

// Written by delta_rule for the backward pass; all nullptr if there will be none.
struct DeltaRuleSaved {
  float* errors = nullptr;  // shape.errors_size() floats
  float* states = nullptr;  // shape.states_size() floats
};

struct DeltaRuleGradients {
  float *dq, *dk, *dv, *dbeta;  // overwritten
  float* dg;                    // nullptr exactly if g is
};

// out is o above, dout its gradient.
void delta_rule(const DeltaRuleInput& in, float* out, const DeltaRuleSaved& saved);
void delta_rule_backward(const DeltaRuleInput& in, const DeltaRuleSaved& saved, const float* dout,
                         const DeltaRuleGradients& gradients);

void delta_rule_reference(const DeltaRuleInput& in, float* out, const DeltaRuleSaved& saved);
void delta_rule_backward_reference(const DeltaRuleInput& in, const DeltaRuleSaved& saved, const float* dout,
                                   const DeltaRuleGradients& gradients);

}  // namespace mneme::kernels
