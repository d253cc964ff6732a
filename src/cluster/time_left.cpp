#include "cluster/time_left.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.h"
#include "run/calibration.h"
#include "study/plan.h"

namespace mneme::cluster {
namespace {

// Estimates are upper limits of the work and means of its speed.
constexpr double kMargin = 1.05;
// A piece of a long run is worth its start if it is this share of a job, or this many seconds.
constexpr double kPieceShare = 0.1, kPieceSeconds = 600;

}  // namespace

TimeLeft::TimeLeft(double usable, std::map<std::string, double> seconds, Clock::time_point now)
    : usable_(usable), seconds_(std::move(seconds)), start_(now) {}

bool TimeLeft::fits_whole(const std::string& run, Clock::time_point now) const {
  const auto known = seconds_.find(run);
  return known == seconds_.end() ||
         known->second * kMargin <= usable_ - std::chrono::duration<double>(now - start_).count();
}

bool TimeLeft::fits(const std::string& run, double share, Clock::time_point now) const {
  const auto known = seconds_.find(run);
  if (known == seconds_.end()) return true;
  const double left = usable_ - std::chrono::duration<double>(now - start_).count();
  const double needed = known->second * share * kMargin;
  if (needed <= left) return true;
  return needed > usable_ && left >= std::min(kPieceSeconds, kPieceShare * usable_);
}

double share_left(const config::RunConfig& run, const store::RunDirectory& directory) try {
  if (!directory.has_checkpoint()) return 1;
  const std::vector<Json> metrics = directory.metrics();
  if (metrics.empty()) return 1;
  const auto steps = static_cast<double>(run.train.integer("steps"));
  return std::clamp(1 - metrics.back().at("step").get<double>() / std::max(steps, 1.0), 0.0, 1.0);
} catch (const std::exception&) {
  // Whoever trains it will say what is wrong with it.
  return 1;
}

std::map<std::string, double> whole_seconds(std::span<const config::RunConfig> runs, const store::Lab& lab,
                                            bool measure) {
  std::vector<std::size_t> all(runs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto chosen = study::representatives(runs, all);
  std::vector<const config::RunConfig*> measured;
  for (const auto& [kind, run] : chosen) measured.push_back(&runs[run]);
  const auto steps = run::calibrated_steps(measured, lab, measure);
  std::map<std::string, double> seconds;
  for (const config::RunConfig& run : runs) {
    const config::RunConfig& representative = runs[chosen.at(study::kind_of(run))];
    if (const auto known = steps.find(representative.id); known != steps.end())
      seconds[run.id] = study::estimated_seconds(run, 1, representative, known->second.seconds);
  }
  return seconds;
}

}  // namespace mneme::cluster
