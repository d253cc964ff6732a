// DeltaNet, Gated DeltaNet and DeltaProduct (docs/mixers/deltanet.md, gated_deltanet.md, deltaproduct.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_deltanet(const catalog::MixerContext& context, const Options& options);
MixerPointer build_gated_deltanet(const catalog::MixerContext& context, const Options& options);
MixerPointer build_deltaproduct(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
