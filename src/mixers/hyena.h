// Hyena of order 2 (docs/mixers/hyena.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_hyena(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
