// A moving average per channel (docs/mixers/ema.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_ema(const MixerContext& context, const Options& options);

}  // namespace mneme
