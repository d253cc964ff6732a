// long_conv: causal convolution along the sequence with a kernel as long as it likes, channel by channel.
//
//   y[b, t, c]  = sum_{j <= t, j < K} kernel[j, c] * x[b, t-j, c]
//   dx[b, s, c]     = sum_{t >= s, t-s < K} kernel[t-s, c] * dy[b, t, c]
//   dkernel[j, c]   = sum_{b, t >= j} dy[b, t, c] * x[b, t-j, c]
// x, y, dx, dy are [B, L, C], kernel and dkernel are [K, C]: float32, contiguous, C innermost. K may be smaller or
// larger than L. Outputs are overwritten and alias nothing.
//
// Direct sums while they are the faster way: work L * min(K, L) * B * C / 2 multiply-adds, and y[b, t] is summed in
// an order that does not depend on L, so later tokens do not change the bits of earlier outputs. Beyond that,
// transforms (kernels/conv/transformed_conv.h): there a later token may change last bits.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct LongConvShape {
  std::size_t B, L, K, C;
};

struct LongConvInput {
  LongConvShape shape;
  const float *x, *kernel;
};

struct LongConvGradients {
  float *dx, *dkernel;  // nullptr: not wanted
};

// Whether these sizes are computed by direct sums: K = L up to 235 steps, and again from 257 to 350 and at 513 to 519,
// where a transform would be padded to almost twice the length.
bool long_conv_is_direct(const LongConvShape& shape);

// out is y above, dout its gradient.
void long_conv(const LongConvInput& in, float* out);
void long_conv_backward(const LongConvInput& in, const float* dout, const LongConvGradients& gradients);

void long_conv_reference(const LongConvInput& in, float* out);
void long_conv_backward_reference(const LongConvInput& in, const float* dout, const LongConvGradients& gradients);

}  // namespace mneme::kernels
