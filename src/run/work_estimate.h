// How long the rest will take, from the work that was done so far.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "config/run_config.h"

namespace mneme::run {

// Work is counted in useful floating-point operations, so that long and short runs mix. A run that ends
// before its budget makes the rest shorter: the estimate is an upper limit.
class WorkEstimate {
 public:
  using Clock = std::chrono::steady_clock;

  explicit WorkEstimate(std::span<const config::RunConfig> runs, Clock::time_point now = Clock::now());

  void at_step(const config::RunConfig& run, std::int64_t step, bool trained_here);
  void ended(const config::RunConfig& run);

  double elapsed(Clock::time_point now = Clock::now()) const;
  // Seconds; nothing until something was measured.
  std::optional<double> left(Clock::time_point now = Clock::now()) const;

 private:
  static double work_per_step(const config::RunConfig& run);

  Clock::time_point start_;
  double trained_ = 0;
  std::map<std::string, double> remaining_;  // by run id
};

}  // namespace mneme::run
