// The request "bench_mixer": speed and memory of one mixer alone, at one length or several.
#pragma once

#include "core/json.h"

namespace mneme::worker {

void carry_out_bench_mixer(const Json& request);

}  // namespace mneme::worker
