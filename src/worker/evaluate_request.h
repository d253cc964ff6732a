// The request `evaluate`: a trained run on other data (docs/worker-protocol.md).
#pragma once

#include "core/json.h"

namespace mneme::worker {

void carry_out_evaluate(const Json& request);

}  // namespace mneme::worker
