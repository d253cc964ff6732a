#include "study/local_executor.h"

#include <sched.h>

#include <algorithm>

#include "study/execution.h"

namespace mneme {

std::size_t ExecutionResult::count(RunState state) const {
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [&](const RunResult& run) { return run.state == state; }));
}

ExecutionResult execute(std::span<const RunConfig> runs, const Lab& lab, Index* index, const ExecutorOptions& options,
                        ExecutionObserver& observer) {
  return Execution(runs, lab, index, options, observer).carry_out();
}

double work_of(const RunConfig& run) {
  // Backward is twice the work of forward.
  return 3.0 * run.forward_flops_per_example() * static_cast<double>(run.train.integer("batch")) *
         static_cast<double>(run.train.integer("steps"));
}

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

}  // namespace mneme
