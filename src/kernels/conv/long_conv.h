// long_conv: causal convolution along the sequence with a kernel as long as it likes, channel by channel.
//
//   y[b, t, c]  = sum_{j <= t, j < K} kernel[j, c] * x[b, t-j, c]
//   dx[b, s, c] = sum_{t >= s, t-s < K} kernel[t-s, c] * dy[b, t, c]
//   dk[j, c]    = sum_{b, t >= j} dy[b, t, c] * x[b, t-j, c]
// x, y, dx, dy are [B, L, C], kernel and dk are [K, C]: float32, contiguous, C innermost. K may be smaller or
// larger than L. Outputs are overwritten and alias nothing.
//
// Direct sums while they are the faster way: work L * min(K, L) * B * C / 2 multiply-adds, and y[b, t] is summed in
// an order that does not depend on L, so later tokens do not change the bits of earlier outputs. Beyond that,
// transforms (kernels/conv/transformed_conv.h): there a later token may change last bits.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct LongConvSizes {
  std::size_t batch, length, taps, channels;  // B, L, K, C
};

struct LongConvArguments {
  LongConvSizes sizes;
  const float* x;
  const float* kernel;
  float* y;
};

struct LongConvBackwardArguments {
  LongConvSizes sizes;
  const float* x;
  const float* kernel;
  const float* dy;
  float* dx;  // nullptr: not wanted
  float* dk;  // nullptr: not wanted
};

// Whether these sizes are computed by direct sums: K = L up to 235 steps, and again from 257 to 350 and at 513 to 519,
// where a transform would be padded to almost twice the length.
bool long_conv_is_direct(const LongConvSizes& sizes);

void long_conv(const LongConvArguments& arguments);
void long_conv_reference(const LongConvArguments& arguments);

void long_conv_backward(const LongConvBackwardArguments& arguments);
void long_conv_backward_reference(const LongConvBackwardArguments& arguments);

}  // namespace mneme::kernels
