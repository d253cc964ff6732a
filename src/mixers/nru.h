// Non-saturating recurrent unit (docs/mixers/nru.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_nru(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
