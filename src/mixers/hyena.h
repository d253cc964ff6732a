// Hyena of order 2 (docs/mixers/hyena.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_hyena(const MixerContext& context, const Options& options);

}  // namespace mneme
