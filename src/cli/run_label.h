// Runs in few words, for progress lines and tables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "catalog/run_config.h"
#include "study/grid.h"
#include "study/local_executor.h"

namespace mneme {

// Names a run by its mixer, learning rate, seed, and whatever else varies in a study:
// "attention, width 64, lr 1e-3, seed 42".
class RunLabels {
 public:
  explicit RunLabels(std::span<const Axis> axes = {});
  std::string of(const RunConfig& run) const;

 private:
  std::vector<std::string> paths_;
};

// "done (threshold) after 840 steps, validation 99.2 %, test 99.1 %, 14 s".
std::string describe_result(const RunResult& result);

// "98.8 %" or "-".
std::string percent(const std::optional<double>& fraction);

}  // namespace mneme
