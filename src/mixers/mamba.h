// Mamba and its ablations (docs/mixers/mamba.md); s6 is Mamba without convolution and gate.
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_mamba(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
