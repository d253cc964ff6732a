// H3: state-space models between multiplications (docs/mixers/h3.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_h3(const MixerContext& context, const Options& options);

}  // namespace mneme
