// A run's configuration without what its schema fills in by itself.
#pragma once

#include "config/run_config.h"
#include "core/json.h"

namespace mneme::config {

// The fields of a complete configuration that are needed to get it back: resolving the result gives the same id. A
// field is left out if the configuration without it still resolves to that id. Throws Error if `complete` is not a
// complete configuration.
Json short_config(const Json& complete);

}  // namespace mneme::config
