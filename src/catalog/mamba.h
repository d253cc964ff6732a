// Mamba's sizes.
#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

// The width of the step-size projection; "auto" is a sixteenth of the model's width.
std::int64_t mamba_dt_rank(const MixerContext& context, const Options& options);

}  // namespace mneme::catalog
