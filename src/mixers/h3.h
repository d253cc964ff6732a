// H3: state-space models between multiplications (docs/mixers/h3.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_h3(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
