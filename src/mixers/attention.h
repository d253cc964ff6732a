// Causal softmax attention (docs/mixers/attention.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_attention(const MixerContext& context, const Options& options);

}  // namespace mneme
