// Short names of runs, for progress lines and tables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "run/local_executor.h"
#include "study/grid.h"

namespace mneme::report {

// Names a run by its mixer, learning rate, seed, and whatever else varies in a study:
// "attention, width 64, lr 1e-3, seed 42".
class RunLabels {
 public:
  explicit RunLabels(std::span<const study::Axis> axes = {});
  std::string of(const config::RunConfig& run) const;

 private:
  std::vector<std::string> paths_;
};

// "done (threshold) after 840 steps, validation 99.2 %, test 99.1 %, 14 s".
std::string describe_result(const run::RunResult& result);

// "98.8 %" or "-".
std::string percent(const std::optional<double>& fraction);

}  // namespace mneme::report
