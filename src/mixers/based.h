// Based: linear attention with Taylor features (docs/mixers/based.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_based(const MixerContext& context, const Options& options);

}  // namespace mneme
