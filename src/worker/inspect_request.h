// The request "inspect": analyses of a trained run, an event `inspected` for each (docs/worker-protocol.md).
#pragma once

#include "core/json.h"

namespace mneme::worker {

void carry_out_inspect(const Json& request);

}  // namespace mneme::worker
