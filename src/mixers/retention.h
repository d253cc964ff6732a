// RetNet and GLA (docs/mixers/retnet.md, docs/mixers/gla.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_retnet(const catalog::MixerContext& context, const Options& options);
MixerPointer build_gla(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
