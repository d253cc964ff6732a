// A profile of training steps as JSON (docs/worker-protocol.md).
#pragma once

#include <span>

#include "catalog/run_config.h"
#include "core/json.h"
#include "mixers/profile.h"

namespace mneme {

// One object a part, most time first: seconds of a step, forward, backward and by kind of operation; its share of the
// whole; and its useful work, where the catalog knows it.
Json step_parts(std::span<const ProfileCell> cells, std::size_t steps, const RunConfig& run);

// One object for each operation of each part, most time first.
Json step_operations(std::span<const ProfileCell> cells, std::size_t steps);

}  // namespace mneme
