// Based: linear attention with Taylor features (docs/mixers/based.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_based(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
