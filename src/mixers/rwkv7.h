// RWKV-7 time mix (docs/mixers/rwkv7.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_rwkv7(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
