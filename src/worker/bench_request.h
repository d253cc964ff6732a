// The request "bench": training speed of one configuration, and the machine's own limit.
#pragma once

#include "core/json.h"

namespace mneme {

void carry_out_bench(const Json& request);

}  // namespace mneme
