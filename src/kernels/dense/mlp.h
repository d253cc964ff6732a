// mlp: y[t] = W2 gelu(W1 x[t] + b1) + b2 for every token, and its gradients; gelu(h) = h * Phi(h), Phi the normal
// distribution.
//
// x, y [T, D], W1 [H, D], b1 [H], W2 [D, H], b2 [D]. Tokens pass in blocks, so that what lies between the two products
// never leaves the cache. backward writes dx and adds to the gradients of weights and biases. float32, contiguous, no
// overlap.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct MlpInput {
  std::size_t T, D, H;
  const float *x, *weight1, *bias1, *weight2, *bias2;
};

// Written by mlp for the backward pass.
struct MlpSaved {
  float* h;  // [T, H]: W1 x + b1
};

struct MlpGradients {
  float *dx, *dweight1, *dbias1, *dweight2, *dbias2;
};

// out is y above, dout its gradient.
void mlp(const MlpInput& in, float* out, const MlpSaved& saved);
void mlp_backward(const MlpInput& in, const MlpSaved& saved, const float* dout, const MlpGradients& gradients);

void mlp_reference(const MlpInput& in, float* out, const MlpSaved& saved);
void mlp_backward_reference(const MlpInput& in, const MlpSaved& saved, const float* dout,
                            const MlpGradients& gradients);

}  // namespace mneme::kernels
