// RetNet and GLA (docs/mixers/retnet.md, docs/mixers/gla.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_retnet(const MixerContext& context, const Options& options);
MixerPointer build_gla(const MixerContext& context, const Options& options);

}  // namespace mneme
