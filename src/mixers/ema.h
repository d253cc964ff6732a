// A moving average per channel (docs/mixers/ema.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_ema(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
