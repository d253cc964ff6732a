// The original structured state-space model (docs/mixers/s4.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_s4(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
