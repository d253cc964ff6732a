#include "run/local_executor.h"

#include <sched.h>

#include <algorithm>

#include "run/execution.h"

namespace mneme::run {

std::size_t ExecutionResult::count(store::RunState state) const {
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [&](const RunResult& run) { return run.state == state; }));
}

ExecutionResult execute(std::span<const config::RunConfig> runs, const store::Lab& lab, store::Index* index,
                        const ExecutorOptions& options, ExecutionObserver& observer) {
  return Execution(runs, lab, index, options, observer).carry_out();
}

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

}  // namespace mneme::run
