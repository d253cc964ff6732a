// The request "run": train one run in its directory.
#pragma once

#include "core/json.h"

namespace mneme::worker {

// Sends the run's events. Returns false if it was interrupted.
bool carry_out_run(const Json& request);

}  // namespace mneme::worker
