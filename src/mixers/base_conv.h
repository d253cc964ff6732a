// BaseConv: gated convolution, short or long (docs/mixers/base_conv.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_base_conv(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
