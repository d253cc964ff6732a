// torch's TransformerEncoderLayer with a causal mask (docs/mixers/transformer.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_transformer(const MixerContext& context, const Options& options);

}  // namespace mneme
