// RWKV-4 time mix and channel mix (docs/mixers/rwkv4.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_rwkv4(const MixerContext& context, const Options& options);
MixerPointer build_rwkv4_channel_mix(const MixerContext& context, const Options& options);

}  // namespace mneme
