// RWKV-5 time mix (docs/mixers/rwkv5.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_rwkv5(const MixerContext& context, const Options& options);

}  // namespace mneme
