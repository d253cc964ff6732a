// The request "bench_train": training speed of one configuration, its parts, and the machine's own limit.
#pragma once

#include "core/json.h"

namespace mneme::worker {

void carry_out_bench_train(const Json& request);

}  // namespace mneme::worker
