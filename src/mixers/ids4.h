// Input-dependent state-space model: running products of matrices (docs/mixers/ids4.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_ids4(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
