// Tasks whose sequences begin with key-value pairs (ar, mqar, forgetting_mqar).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tasks/task.h"

namespace mneme::tasks {

// `pairs` pairs (key value), then queries: the last value given to a key answers it.
class PairTask : public Task {
 public:
  explicit PairTask(std::int64_t pairs) : stated_(static_cast<std::size_t>(pairs)) {}

  std::vector<std::int32_t> solve(std::span<const std::int32_t> tokens) const override;
  std::vector<Role> roles(const ExampleView& example) const override;
  std::vector<std::int32_t> sources(const ExampleView& example) const override;

 private:
  std::size_t stated_;
};

}  // namespace mneme::tasks
