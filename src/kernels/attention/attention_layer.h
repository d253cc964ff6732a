// attention_layer: causal attention with its projections, and their gradients.
//
// x [B, L, D], D = H * d. With Win [3D, D] and bin [3D] or none; the first D rows make queries, the next keys
// and the last values:
//   q = x Win_q^T + bin_q,  k, v likewise,  c = causal_attention(q, k, v) with scores scaled by 1/sqrt(d),
//   y = c Wout^T + bout
// for all positions, or for those in `positions`, R indices into [B * L], ascending, each once. q, c, y are
// [R, D], kv [B, L, 2D].
// Sequences pass a few at a time, so that what lies between the products stays in the cache; gradients of q, k, v and c
// never leave it. backward writes dx and adds to the gradients of weights and biases (bin's and its own may be null).
// float32, contiguous, no overlap. Changing a token changes no bit of the outputs before it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::kernels {

struct AttentionLayerInput {
  std::size_t B, L, H, D;
  const float *x, *weight_in, *bias_in, *weight_out, *bias_out;
  const std::int64_t* positions = nullptr;  // nullptr: all
  std::size_t R = 0;                        // their number

  std::size_t rows() const { return positions ? R : B * L; }
};

// Written by attention_layer for the backward pass.
struct AttentionLayerSaved {
  float *q, *kv, *context;  // q, k and v, c above
  float* lse;               // that of causal_attention, [R, H]
};

struct AttentionLayerGradients {
  float *dx, *dweight_in, *dbias_in, *dweight_out, *dbias_out;
};

// out is y above, dout its gradient.
void attention_layer(const AttentionLayerInput& in, float* out, const AttentionLayerSaved& saved);
void attention_layer_backward(const AttentionLayerInput& in, const AttentionLayerSaved& saved, const float* dout,
                              const AttentionLayerGradients& gradients);

void attention_layer_reference(const AttentionLayerInput& in, float* out, const AttentionLayerSaved& saved);
void attention_layer_backward_reference(const AttentionLayerInput& in, const AttentionLayerSaved& saved,
                                        const float* dout, const AttentionLayerGradients& gradients);

}  // namespace mneme::kernels
