// layer_norm: the norm of a residual stream together with what is added to it before.
//
// r[t] = a[t] + b[t] (a alone if b is null),  y[t] = (r[t] - mean) / sqrt(variance + eps) * weight + bias, moments over
// the D channels. a, b, r, y [T, D]; r is written if b is there (r may be a), and is what backward needs. backward
// writes dr = the gradient through the norm of dy, plus `through` (the gradient that r gets elsewhere) if it is not
// null, and adds to dweight and dbias [D]. float32, contiguous.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct LayerNorm {
  std::size_t T, D;
  float eps;
  const float *weight, *bias;
};

void layer_norm(const LayerNorm& norm, const float* a, const float* b, float* r, float* y);
void layer_norm_reference(const LayerNorm& norm, const float* a, const float* b, float* r, float* y);

void layer_norm_backward(const LayerNorm& norm, const float* r, const float* dy, const float* through, float* dr,
                         float* dweight, float* dbias);
void layer_norm_backward_reference(const LayerNorm& norm, const float* r, const float* dy, const float* through,
                                   float* dr, float* dweight, float* dbias);

}  // namespace mneme::kernels
