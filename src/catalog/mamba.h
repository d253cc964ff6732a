// Mamba (S6) and its ablations.
#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

MixerEntry mamba_entry();
MixerEntry s6_entry();  // mamba with conv and gate off

// The width of the step-size projection; "auto" is a sixteenth of the model's width.
std::int64_t mamba_dt_rank(const MixerContext& context, const Options& options);

}  // namespace mneme::catalog
