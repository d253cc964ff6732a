// Diagonal state-space model (docs/mixers/s4d.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_s4d(const MixerContext& context, const Options& options);

}  // namespace mneme
