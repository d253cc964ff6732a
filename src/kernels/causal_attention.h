// causal_attention: softmax attention of every head over its past, without storing the [L, L] matrix.
//
// qkv [B, L, 3D] holds queries, keys and values beside each other, D = H * d, head-major. For each b, h:
//   s[t, u] = scale * q_t . k_u (u <= t),  p = softmax_u(s),  out[b, t, h*d ..] = sum_u p[t, u] v_u
// out [B, L, D]; lse [B, H, L] receives log sum_u exp(s[t, u]) and is all that backward needs besides qkv.
// backward writes dqkv [B, L, 3D] for the gradient dout [B, L, D]. float32, contiguous, no overlap.
// Memory besides these: O(L) per call. Rows are computed in blocks at fixed places, so changing a token
// changes no bit of the outputs before it.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct AttentionShape {
  std::size_t B, L, H, d;
  float scale;
};

void causal_attention(const AttentionShape& shape, const float* qkv, float* out, float* lse);
void causal_attention_reference(const AttentionShape& shape, const float* qkv, float* out, float* lse);

void causal_attention_backward(const AttentionShape& shape, const float* qkv, const float* lse, const float* dout,
                               float* dqkv);
void causal_attention_backward_reference(const AttentionShape& shape, const float* qkv, const float* lse,
                                         const float* dout, float* dqkv);

}  // namespace mneme::kernels
