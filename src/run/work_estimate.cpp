#include "run/work_estimate.h"

#include <algorithm>

namespace mneme::run {

double WorkEstimate::work_per_step(const config::RunConfig& run) {
  return run.forward_flops_per_example() * static_cast<double>(run.train.integer("batch"));
}

WorkEstimate::WorkEstimate(std::span<const config::RunConfig> runs, Clock::time_point now) : start_(now) {
  for (const config::RunConfig& run : runs)
    remaining_[run.id] = work_per_step(run) * static_cast<double>(run.train.integer("steps"));
}

void WorkEstimate::at_step(const config::RunConfig& run, std::int64_t step, bool trained_here) {
  const auto found = remaining_.find(run.id);
  if (found == remaining_.end()) return;
  const double now = work_per_step(run) * static_cast<double>(run.train.integer("steps") - step);
  if (trained_here) trained_ += std::max(0.0, found->second - now);
  found->second = now;
}

void WorkEstimate::ended(const config::RunConfig& run) { remaining_.erase(run.id); }

double WorkEstimate::elapsed(Clock::time_point now) const {
  return std::chrono::duration<double>(now - start_).count();
}

std::optional<double> WorkEstimate::left(Clock::time_point now) const {
  if (trained_ <= 0) return std::nullopt;
  double work = 0;
  for (const auto& [id, amount] : remaining_) work += amount;
  return work / trained_ * elapsed(now);
}

}  // namespace mneme::run
