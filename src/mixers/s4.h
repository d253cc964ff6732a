// The original structured state-space model (docs/mixers/s4.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_s4(const MixerContext& context, const Options& options);

}  // namespace mneme
