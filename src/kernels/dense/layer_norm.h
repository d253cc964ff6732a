// layer_norm: the norm of a residual stream together with what is added to it before.
//
// r[t] = a[t] + b[t] (a alone if b is null),  out[t] = (r[t] - mean) / sqrt(variance + eps) * weight + bias, moments
// over the D channels. a, b, r, out [T, D], weight, bias [D]: float32, contiguous.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct LayerNormInput {
  std::size_t T, D;
  float eps;
  const float *weight, *bias;
  const float *a, *b;
};

// Written by layer_norm for the backward pass.
struct LayerNormSaved {
  float* r;  // [T, D]; without b it is a itself, and not written
};

struct LayerNormGradients {
  float* dr;               // [T, D], overwritten: the gradient of a and of b
  float *dweight, *dbias;  // [D], added to
  const float* through;    // [T, D]: the gradient that r gets elsewhere, which is added to dr; or null
};

void layer_norm(const LayerNormInput& in, float* out, const LayerNormSaved& saved);
void layer_norm_backward(const LayerNormInput& in, const LayerNormSaved& saved, const float* dout,
                         const LayerNormGradients& gradients);

void layer_norm_reference(const LayerNormInput& in, float* out, const LayerNormSaved& saved);
void layer_norm_backward_reference(const LayerNormInput& in, const LayerNormSaved& saved, const float* dout,
                                   const LayerNormGradients& gradients);

}  // namespace mneme::kernels
