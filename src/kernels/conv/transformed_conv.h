// transformed_conv: long_conv through Fourier transforms, for lengths at which direct sums lose.
//
// The same function, arguments and gradients as long_conv (kernels/conv/long_conv.h), in work proportional to
// L log L. Rounding differs from that of direct sums, and a later token may change the last bits of earlier outputs.
#pragma once

#include "kernels/conv/long_conv.h"

namespace mneme::kernels {

void transformed_conv(const LongConvInput& in, float* out);
void transformed_conv_backward(const LongConvInput& in, const float* dout, const LongConvGradients& gradients);

}  // namespace mneme::kernels
