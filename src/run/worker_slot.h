// A place for a worker process, and what it is doing.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "core/subprocess.h"
#include "run/run_queue.h"

namespace mneme::run {

struct WorkerSlot {
  using Clock = std::chrono::steady_clock;

  std::unique_ptr<LineProcess> process;
  bool ready = false;
  bool stopped = false;                      // it said `interrupted`
  bool leaving = false;                      // it gets no more runs
  bool silent = false;                       // killed because it said nothing for a whole lease
  bool finished = false;                     // its run has ended, but is not in the lab yet
  bool begun = false;                        // it has made the run's directory its own
  std::optional<LeasedRun> run;              // what it works on, or will when it is ready
  Clock::time_point heard = Clock::now();    // from it, last
  Clock::time_point checked = Clock::now();  // that the run is still ours
  std::int64_t kernel_kills = 0;             // of the machine for lack of memory, when the process started

  bool free() const { return !run && !stopped && !leaving; }
};

}  // namespace mneme::run
