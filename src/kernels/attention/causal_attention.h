// causal_attention: softmax attention of every head over its past, without storing the [L, L] matrix.
//
// k and v are [B, L, D], D = H * d, head-major. q [R, D] are the queries of all positions (R = B * L), or of those in
// `positions`. For the query of position t of sequence b, and each head h:
//   s[u] = scale * q . k_u (u <= t),  p = softmax_u(s),  out[.., h*d ..] = sum_u p[u] v_u
// out [R, D]. Rows of q, k and v and of their gradients may be apart; out and its gradient are contiguous. float32, no
// overlap. Memory besides these: O(L d) per call. A head's rows are computed in blocks with fixed bounds, so changing a
// token changes no bit of the outputs before it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/simd/aligned_floats.h"

namespace mneme::kernels {

struct CausalAttentionInput {
  std::size_t B, L, H, d;
  float scale;
  Rows q, k, v;
  // The indices of q's rows into [B * L], ascending, each once; nullptr: all of them.
  const std::int64_t* positions = nullptr;
  std::size_t R = 0;  // their number

  std::size_t rows() const { return positions ? R : B * L; }
};

// Written by causal_attention for the backward pass.
struct CausalAttentionSaved {
  float* lse;  // [R, H]: log sum_u exp(s[u])
};

// Overwritten. Rows of dq are `stride_q` floats apart, those of dk and dv `stride_kv`.
struct CausalAttentionGradients {
  float* dq;
  std::size_t stride_q;
  float *dk, *dv;
  std::size_t stride_kv;
};

void causal_attention(const CausalAttentionInput& in, float* out, const CausalAttentionSaved& saved);
void causal_attention_backward(const CausalAttentionInput& in, const CausalAttentionSaved& saved, const float* dout,
                               const CausalAttentionGradients& gradients);

void causal_attention_reference(const CausalAttentionInput& in, float* out, const CausalAttentionSaved& saved);
void causal_attention_backward_reference(const CausalAttentionInput& in, const CausalAttentionSaved& saved,
                                         const float* dout, const CausalAttentionGradients& gradients);

}  // namespace mneme::kernels
