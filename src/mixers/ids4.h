// Input-dependent state-space model: running products of matrices (docs/mixers/ids4.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_ids4(const MixerContext& context, const Options& options);

}  // namespace mneme
