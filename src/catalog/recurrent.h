// Sizes of the classic cells.
#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

// The option hidden_size, where 0 means the width.
std::int64_t hidden_size(const MixerContext& context, const Options& options);

}  // namespace mneme::catalog
