// Diagonal state-space model (docs/mixers/s4d.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_s4d(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
