// causal_attention: softmax attention of every head over its past, without storing the [L, L] matrix.
//
// k and v are [B, L, D], D = H * d, head-major. q [R, D] are the queries of all positions (R = B * L), or of those in
// `positions`. For the query of position t of sequence b, and each head h:
//   s[u] = scale * q . k_u (u <= t),  p = softmax_u(s),  out[.., h*d ..] = sum_u p[u] v_u
// out [R, D]; lse [R, H] receives log sum_u exp(s[u]) and is all that backward needs besides q, k and v. Rows of q, k
// and v and of their gradients may stand apart; out and its gradient are contiguous. float32, no overlap. Memory
// besides these: O(L d) per call. A head's rows are computed in blocks with fixed bounds, so changing a token changes
// no bit of the outputs before it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/simd/aligned_floats.h"

namespace mneme::kernels {

struct AttentionInput {
  std::size_t B, L, H, d;
  float scale;
  Rows q, k, v;
  // The indices of q's rows into [B * L], ascending, each once; nullptr: all of them.
  const std::int64_t* positions = nullptr;
  std::size_t R = 0;  // their number

  std::size_t rows() const { return positions ? R : B * L; }
};

// Overwritten. Rows of dq are `stride_q` floats apart, those of dk and dv `stride_kv`.
struct AttentionGradients {
  float* dq;
  std::size_t stride_q;
  float *dk, *dv;
  std::size_t stride_kv;
};

void causal_attention(const AttentionInput& in, float* out, float* lse);
void causal_attention_reference(const AttentionInput& in, float* out, float* lse);

void causal_attention_backward(const AttentionInput& in, const float* lse, const float* dout,
                               const AttentionGradients& gradients);
void causal_attention_backward_reference(const AttentionInput& in, const float* lse, const float* dout,
                                         const AttentionGradients& gradients);

}  // namespace mneme::kernels
