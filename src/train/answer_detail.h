// Where in the sequence answers are right: the metrics of a task that are more than one number, or its own.
#pragma once

#include <cstdint>
#include <span>

#include "config/run_config.h"
#include "core/json.h"
#include "tasks/protocols.h"

namespace mneme::train {

class AnswerDetail {
 public:
  // Which metrics are computed is what the task's entry lists (`mneme show task NAME`).
  AnswerDetail(const config::RunConfig& run, const tasks::Task& task);

  // One example: `predictions` counts at labelled positions only. All of the task's length.
  void add(std::span<std::int32_t> tokens, std::span<std::int32_t> labels, std::span<const std::int32_t> predictions);

  // {"accuracy_by_position": [{"from", "to", "accuracy", "labelled"}, ...], "accuracy_by_distance": the same,
  // "string_accuracy", "character_accuracy"}, as far as they are listed: from <= position or distance < to. Positions
  // are told apart up to 128 of them, longer sequences in as many equal stretches.
  Json json() const;

 private:
  bool listed(std::string_view metric) const;
  Json by_position() const;

  const config::RunConfig& run_;
  const tasks::Task& task_;
  tasks::TokenScore tokens_;
  tasks::DistanceScore distances_;
  tasks::StringScore strings_;
};

}  // namespace mneme::train
