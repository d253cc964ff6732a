// Linear attention with a feature map (docs/mixers/linear_attention.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_linear_attention(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
