#include "worker/measure_request.h"

#include <algorithm>
#include <chrono>

#include "config/run_config.h"
#include "core/timing.h"
#include "train/trainer.h"
#include "worker/events.h"
#include "worker/memory_peak.h"

namespace mneme::worker {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The fastest of some steps: what the machine can do when nothing else disturbs it.
double step_seconds(const config::RunConfig& run, double seconds) {
  train::Trainer trainer(run);
  trainer.step();  // first touch of all memory
  double best = 1e300;
  const auto start = SteadyClock::now();
  for (int steps = 0; steps < 3 || seconds_since(start) < seconds; ++steps) {
    const auto before = SteadyClock::now();
    trainer.step();
    best = std::min(best, seconds_since(before));
  }
  return best;
}

}  // namespace

void carry_out_measure(const Json& request) {
  for (const Json& config : request.at("configs")) {
    const config::RunConfig run = config::resolve_run(config_from_json(config, "request"));
    forget_peak();
    const double seconds = step_seconds(run, request.value("seconds", 0.5));
    send_event("step", {{"run", run.id}, {"seconds", seconds}, {"bytes", peak_bytes()}});
  }
  send_event("finished");
}

}  // namespace mneme::worker
