// RWKV-5 time mix (docs/mixers/rwkv5.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_rwkv5(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
