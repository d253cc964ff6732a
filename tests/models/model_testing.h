// Small models for tests.
#pragma once

#include <map>
#include <string>

#include "models/initialise.h"
#include "models/sequence_model.h"

namespace mneme::testing {

inline config::RunConfig run_from(const std::string& toml) { return config::resolve_run(parse_toml(toml, "test")); }

// MQAR with 8 tokens of 16, width 8, and these lines under [model].
inline config::RunConfig tiny_run(const std::string& model) {
  return run_from("[task]\nlength = 8\npairs = 2\nvocab = 16\n[model]\nwidth = 8\n" + model);
}

inline std::shared_ptr<models::SequenceModel> initialised_model(const config::RunConfig& run, std::uint64_t seed = 5) {
  auto model = models::build_model(run);
  models::initialise(*model, run, nn::Draw(seed));
  return model;
}

inline std::map<std::string, torch::Tensor> values_of(const torch::nn::Module& model) {
  std::map<std::string, torch::Tensor> result;
  for (const auto& item : model.named_parameters()) result[item.key()] = item.value().detach().clone();
  return result;
}

inline std::int64_t measured_parameters(const torch::nn::Module& model) {
  std::int64_t count = 0;
  for (const auto& parameter : model.parameters()) count += parameter.numel();
  return count;
}

inline torch::Tensor hidden(models::SequenceModel& model, const torch::Tensor& input,
                            nn::Pass pass = nn::Pass::evaluation()) {
  return model.hidden(input, pass);
}

inline constexpr const char* kBlocks[] = {"zoology", "mamba", "postnorm", "plain", "parallel"};
inline constexpr const char* kPositions[] = {"none", "learned", "sinusoidal", "relative", "rope"};

}  // namespace mneme::testing
