// The request "measure": how long a training step of some configurations takes here.
#pragma once

#include "core/json.h"

namespace mneme::worker {

void carry_out_measure(const Json& request);

}  // namespace mneme::worker
