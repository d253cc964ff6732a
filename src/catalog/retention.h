// Sizes of RetNet and GLA, linear attention whose state decays.
#pragma once

#include "catalog/head_widths.h"

namespace mneme::catalog {

// Query heads that share one key and value head.
std::int64_t retention_groups(const Options& options);

}  // namespace mneme::catalog
