// short_conv: a depthwise convolution along the sequence with few taps.
//
//   out[b, t, c] = f(bias[c] + sum_{i < W} weight[c, i] * x[b, t + i - (W - 1) + ahead, c]),  x = 0 outside [0, L)
// f is the identity, or silu(z) = z / (1 + exp(-z)), of which backward makes z again. x [B, L, C], its tokens `stride`
// floats apart, out [B, L, C], weight [C, W] (the last tap multiplies the newest token), bias [C] or null; float32, no
// overlap, and but for x contiguous. ahead = 0 is causal. Forward sums the taps from the oldest to the newest.
// Backward writes dx, and dweight, dbias as sums over t within a sequence in float32 and over sequences in
// double, in order.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct ShortConvShape {
  std::size_t B, L, C, W, ahead;
  bool silu = false;
  std::size_t stride = C;
};

void short_conv(const ShortConvShape& shape, const float* x, const float* weight, const float* bias, float* out);
void short_conv_reference(const ShortConvShape& shape, const float* x, const float* weight, const float* bias,
                          float* out);

// One token: out [B, C] of x [B, C], its rows shape.stride floats apart, after the window [B, W - 1, C] of the tokens
// before it, oldest first. `next` is the window for the token after it and may not be `window`. L and ahead are not
// read.
void short_conv_step(const ShortConvShape& shape, const float* window, const float* x, const float* weight,
                     const float* bias, float* next, float* out);
void short_conv_step_reference(const ShortConvShape& shape, const float* window, const float* x, const float* weight,
                               const float* bias, float* next, float* out);

// Overwritten; dbias may be null. dx is contiguous.
struct ShortConvGradients {
  float *dx, *dweight, *dbias;
};

void short_conv_backward(const ShortConvShape& shape, const float* x, const float* weight, const float* bias,
                         const float* dout, const ShortConvGradients& gradients);
void short_conv_backward_reference(const ShortConvShape& shape, const float* x, const float* weight, const float* bias,
                                   const float* dout, const ShortConvGradients& gradients);

}  // namespace mneme::kernels
