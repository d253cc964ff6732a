// RWKV-4 time mix and channel mix (docs/mixers/rwkv4.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_rwkv4(const catalog::MixerContext& context, const Options& options);
MixerPointer build_rwkv4_channel_mix(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
