// Mamba-2 (docs/mixers/mamba2.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_mamba2(const MixerContext& context, const Options& options);

}  // namespace mneme
