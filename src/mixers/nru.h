// Non-saturating recurrent unit (docs/mixers/nru.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_nru(const MixerContext& context, const Options& options);

}  // namespace mneme
