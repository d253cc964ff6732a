#include "cluster/node_memory.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "run/calibration.h"
#include "study/plan.h"

namespace mneme::cluster {
namespace {

// The runs that were measured are of median size, and libraries take some memory whatever is trained.
constexpr double kReserve = 1.25, kMegabyte = 1 << 20, kSupervisor = 200;

}  // namespace

std::int64_t memory_of_node(std::span<const config::RunConfig> runs, const store::Lab& lab,
                            const SlurmSettings& settings, bool measure) {
  if (settings.memory > 0) return settings.memory;
  std::vector<std::size_t> all(runs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<const config::RunConfig*> measured;
  for (const auto& [kind, run] : study::representatives(runs, all)) measured.push_back(&runs[run]);
  double most = 0;
  for (const auto& [run, cost] : run::calibrated_steps(measured, lab, measure)) most = std::max(most, cost.bytes);
  if (most <= 0) return 0;
  return std::llround(std::ceil(kSupervisor + kReserve * most / kMegabyte * static_cast<double>(settings.workers)));
}

}  // namespace mneme::cluster
