// Helpers of the tests of tasks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/files.h"
#include "core/json.h"
#include "support/places.h"
#include "tasks/task.h"

namespace mneme::testing {

// Options from `key=value` assignments on the task's defaults.
inline Options task_options(const std::string& name, const std::vector<std::string>& assignments = {}) {
  ConfigValue table{ConfigTable{}, ""};
  for (const std::string& assignment : assignments) apply_override(table, assignment);
  return resolve(tasks::find_task(name).options, &table, "task");
}

inline std::unique_ptr<tasks::Task> make_task(const std::string& name,
                                              const std::vector<std::string>& assignments = {}) {
  return tasks::find_task(name).build(task_options(name, assignments));
}

inline tasks::Example make_example(const tasks::Task& task, std::uint64_t index,
                                   tasks::Split split = tasks::Split::train, std::uint64_t seed = 7) {
  tasks::Example example(task.shape());
  // Poison: a position that is not written shows up as an impossible token.
  for (auto* numbers : {&example.tokens, &example.labels}) std::fill(numbers->begin(), numbers->end(), -777);
  for (auto* numbers : {&example.signal, &example.targets}) std::fill(numbers->begin(), numbers->end(), -777.0F);
  tasks::ExampleSource(task, seed, split).write(index, example.view());
  return example;
}

inline Json load_data(const std::string& file) {
  const Path path = Path(source_directory()) / "tests" / "data" / file;
  return parse_json(read_file(path), path.string());
}

inline std::size_t count_labels(const tasks::Example& example) {
  std::size_t count = 0;
  for (const std::int32_t label : example.labels) count += label != tasks::kUnlabelled;
  return count;
}

// How far a chi-square statistic is from its mean, in standard deviations: beyond 5 is no accident.
inline double chi_square_deviation(const std::vector<double>& counts, const std::vector<double>& expected) {
  double statistic = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    statistic += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
  const double freedom = static_cast<double>(counts.size()) - 1;
  return (statistic - freedom) / std::sqrt(2 * freedom);
}

inline double uniform_deviation(const std::vector<double>& counts) {
  double total = 0;
  for (const double count : counts) total += count;
  return chi_square_deviation(counts, std::vector<double>(counts.size(), total / static_cast<double>(counts.size())));
}

}  // namespace mneme::testing
