// Mixers along the channels: mlp, glu and identity.
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_mlp(const catalog::MixerContext& context, const Options& options);
MixerPointer build_glu(const catalog::MixerContext& context, const Options& options);
MixerPointer build_identity(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
