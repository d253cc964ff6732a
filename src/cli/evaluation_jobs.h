// Evaluating runs: several workers at once, each run's result as soon as it is there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/json.h"
#include "store/lab.h"

namespace mneme::cli {

struct EvaluatedRun {
  std::string id;
  Json result;          // of the worker's event `evaluated`; null if it failed
  std::string failure;  // why
  int exit_code = 0;    // of that failure
};

// Sends `request` (docs/worker-protocol.md, `evaluate`) for every run and calls `on_end` after each, from one thread at
// a time, in the order in which they end. Throws only what `on_end` throws.
void evaluate_runs(const std::vector<std::string>& ids, const Json& request, const store::Lab& lab, int jobs,
                   const std::function<void(const EvaluatedRun&)>& on_end);

}  // namespace mneme::cli
