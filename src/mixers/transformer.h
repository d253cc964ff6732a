// torch's TransformerEncoderLayer with a causal mask (docs/mixers/transformer.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_transformer(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
