// Sizes of BaseConv, a gated convolution, short or long.
#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

// The taps of this layer's convolution; -1: as long as the sequence.
std::int64_t base_conv_kernel_size(const MixerContext& context, const Options& options);

}  // namespace mneme::catalog
