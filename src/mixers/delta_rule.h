// DeltaNet, Gated DeltaNet and DeltaProduct (docs/mixers/deltanet.md, gated_deltanet.md, deltaproduct.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_deltanet(const MixerContext& context, const Options& options);
MixerPointer build_gated_deltanet(const MixerContext& context, const Options& options);
MixerPointer build_deltaproduct(const MixerContext& context, const Options& options);

}  // namespace mneme
