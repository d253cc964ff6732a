// short_conv: a depthwise convolution along the sequence with few taps.
//
//   y[b, t, c] = bias[c] + sum_{i < W} weight[c, i] * x[b, t + i - (W - 1) + ahead, c],  x = 0 outside [0, L)
// x, y [B, L, C], weight [C, W] (the last tap multiplies the newest token), bias [C] or null; float32,
// contiguous, no overlap. ahead = 0 is causal. Forward sums the taps from the oldest to the newest.
// Backward writes dx, and dweight, dbias as sums over t within a sequence in float32 and over sequences in
// double, in order.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct ShortConvShape {
  std::size_t B, L, C, W, ahead;
};

void short_conv(const ShortConvShape& shape, const float* x, const float* weight, const float* bias, float* y);
void short_conv_reference(const ShortConvShape& shape, const float* x, const float* weight, const float* bias,
                          float* y);

// dbias may be null.
void short_conv_backward(const ShortConvShape& shape, const float* x, const float* weight, const float* dy, float* dx,
                         float* dweight, float* dbias);
void short_conv_backward_reference(const ShortConvShape& shape, const float* x, const float* weight, const float* dy,
                                   float* dx, float* dweight, float* dbias);

}  // namespace mneme::kernels
