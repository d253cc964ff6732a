// linear: out[t] = W x[t] + bias for every token, and its gradients.
//
// x [T, in], W [out, in], bias [out] or none, out [T, out]: float32, contiguous, no overlap.
// backward adds to dweight [out, in] and dbias [out], and writes dx [T, in]; each may be null.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct LinearShape {
  std::size_t T, in, out;
};

struct LinearGradients {
  float *dx, *dweight, *dbias;
};

void linear(const LinearShape& shape, const float* x, const float* weight, const float* bias, float* out);
void linear_reference(const LinearShape& shape, const float* x, const float* weight, const float* bias, float* out);

void linear_backward(const LinearShape& shape, const float* x, const float* weight, const float* dout,
                     const LinearGradients& gradients);
void linear_backward_reference(const LinearShape& shape, const float* x, const float* weight, const float* dout,
                               const LinearGradients& gradients);

}  // namespace mneme::kernels
