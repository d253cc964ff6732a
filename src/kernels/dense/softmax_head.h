// softmax_head: the output layer and cross entropy of rows, with loss, prediction and all gradients, without the matrix
// of logits of all rows at once.
//
// For each row r with label y:  z = W h[r] + bias [V],  m = max z
//   loss[r] = log(sum_v exp(z_v - m)) + m - z_y,  prediction[r] = the first v with z_v = m
// and with dz = scale * (softmax(z) - [v = y]):  dh[r] = W^T dz,  dW += dz h[r]^T,  dbias += dz.
// A row with a NaN or an infinite maximum gets loss NaN, prediction -1 and NaN gradients: divergence must not be
// hidden. h, dh [R, D], W, dW [V, D], bias, dbias [V] or null, labels in [0, V); float32, contiguous, no overlap.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::kernels {

struct SoftmaxHeadInput {
  std::size_t R, D, V;
  const float *h, *weight, *bias;
  const std::int32_t* labels;
};

struct SoftmaxHeadGradients {
  float scale;
  float *dh, *dweight, *dbias;
};

// `gradients` may be null.
void softmax_head(const SoftmaxHeadInput& in, float* losses, std::int32_t* predictions,
                  const SoftmaxHeadGradients* gradients);
void softmax_head_reference(const SoftmaxHeadInput& in, float* losses, std::int32_t* predictions,
                            const SoftmaxHeadGradients* gradients);

}  // namespace mneme::kernels
