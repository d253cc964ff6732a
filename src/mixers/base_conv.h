// BaseConv: gated convolution, short or long (docs/mixers/base_conv.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_base_conv(const MixerContext& context, const Options& options);

}  // namespace mneme
