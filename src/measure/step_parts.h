// A profile of training steps as JSON (docs/worker-protocol.md).
#pragma once

#include <span>

#include "config/run_config.h"
#include "core/json.h"
#include "ops/profile.h"

namespace mneme::measure {

// One object a part, most time first: seconds of a step, forward, backward and by kind of operation; its share of the
// whole; and its useful work, where the catalog knows it.
Json step_parts(std::span<const ops::ProfileCell> cells, std::size_t steps, const config::RunConfig& run);

// One object for each operation of each part, most time first.
Json step_operations(std::span<const ops::ProfileCell> cells, std::size_t steps);

}  // namespace mneme::measure
