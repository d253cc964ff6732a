// attention_layer: causal attention with its projections, and their gradients.
//
// x [B, L, D], D = H * d. With Win [3D, D] and bin [3D] or none, of which the first D rows make queries, the next keys
// and the last values:
//   q = x Win_q^T + bin_q,  k, v likewise,  c = causal_attention(q, k, v) with scores scaled by 1/sqrt(d),
//   y = c Wout^T + bout
// for all positions, or for those in `positions`, R indices into [B * L], ascending, each once. q, c, y are
// [R, D], kv [B, L, 2D]; lse is that of causal_attention. q, kv, c and lse are what backward needs besides x.
// Sequences pass a few at a time, so that what lies between the products stays in the cache; gradients of q, k, v and c
// never leave it. backward writes dx and adds to the gradients of weights and biases (bin's and its own may be null).
// float32, contiguous, no overlap. Changing a token changes no bit of the outputs before it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::kernels {

struct AttentionLayer {
  std::size_t B, L, H, D;
  const float *x, *weight_in, *bias_in, *weight_out, *bias_out;
  const std::int64_t* positions = nullptr;  // nullptr: all
  std::size_t R = 0;                        // their number

  std::size_t rows() const { return positions ? R : B * L; }
};

struct AttentionLayerKept {
  float *q, *kv, *context, *lse;
};

struct AttentionLayerGradients {
  float *dx, *dweight_in, *dbias_in, *dweight_out, *dbias_out;
};

void attention_layer(const AttentionLayer& in, const AttentionLayerKept& kept, float* y);
void attention_layer_reference(const AttentionLayer& in, const AttentionLayerKept& kept, float* y);

void attention_layer_backward(const AttentionLayer& in, const AttentionLayerKept& kept, const float* dy,
                              const AttentionLayerGradients& gradients);
void attention_layer_backward_reference(const AttentionLayer& in, const AttentionLayerKept& kept, const float* dy,
                                        const AttentionLayerGradients& gradients);

}  // namespace mneme::kernels
