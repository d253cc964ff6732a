// Linear attention whose state decays: RetNet (fixed rates) and GLA (rates chosen by the token).
#pragma once

#include "catalog/head_widths.h"

namespace mneme::catalog {

MixerEntry retnet_entry();
MixerEntry gla_entry();

// Query heads that share one key and value head.
std::int64_t retention_groups(const Options& options);

}  // namespace mneme::catalog
