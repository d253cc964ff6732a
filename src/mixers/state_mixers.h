// Mixers along the channels: mlp, glu and identity.
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_mlp(const MixerContext& context, const Options& options);
MixerPointer build_glu(const MixerContext& context, const Options& options);
MixerPointer build_identity(const MixerContext& context, const Options& options);

}  // namespace mneme
