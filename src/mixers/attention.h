// Causal softmax attention (docs/mixers/attention.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_attention(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
