#include "tasks/pairs.h"

#include <unordered_map>

namespace mneme::tasks {

std::vector<std::int32_t> PairTask::sources(const ExampleView& example) const {
  std::unordered_map<std::int32_t, std::int32_t> latest;
  for (std::size_t i = 0; i < stated_; ++i) latest[example.tokens[2 * i]] = static_cast<std::int32_t>(2 * i);
  std::vector<std::int32_t> sources(example.tokens.size(), -1);
  for (std::size_t t = 2 * stated_; t < sources.size(); ++t)
    if (example.labels[t] != kUnlabelled) sources[t] = latest.at(example.tokens[t]);
  return sources;
}

std::vector<std::int32_t> PairTask::solve(std::span<const std::int32_t> tokens) const {
  std::unordered_map<std::int32_t, std::int32_t> latest;
  for (std::size_t i = 0; i < stated_; ++i) latest[tokens[2 * i]] = tokens[2 * i + 1];
  std::vector<std::int32_t> labels(tokens.size(), kUnlabelled);
  for (std::size_t t = 2 * stated_; t < labels.size(); t += 2)
    if (const auto found = latest.find(tokens[t]); found != latest.end()) labels[t] = found->second;
  return labels;
}

std::vector<Role> PairTask::roles(const ExampleView& example) const {
  std::vector<Role> roles(example.tokens.size(), Role::filler);
  for (std::size_t t = 0; t < roles.size(); ++t) {
    if (t < 2 * stated_)
      roles[t] = t % 2 == 0 ? Role::key : Role::value;
    else if (example.labels[t] != kUnlabelled)
      roles[t] = Role::query;
  }
  return roles;
}

}  // namespace mneme::tasks
