// Mamba-2 (docs/mixers/mamba2.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_mamba2(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
