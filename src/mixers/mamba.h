// Mamba and its ablations (docs/mixers/mamba.md); s6 is Mamba without convolution and gate.
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_mamba(const MixerContext& context, const Options& options);

}  // namespace mneme
