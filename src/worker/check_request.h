// The request `check`: one mixer through every check, an event `checked` for each (docs/worker-protocol.md).
#pragma once

#include "core/json.h"

namespace mneme::worker {

void carry_out_check(const Json& request);

}  // namespace mneme::worker
