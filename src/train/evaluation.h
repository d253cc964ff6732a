// How good a model is on a fixed part of a split.
#pragma once

#include <cstdint>

#include "core/json.h"
#include "models/language_model.h"
#include "tasks/task.h"
#include "train/loss_head.h"

namespace mneme {

struct Scores {
  double loss = 0;         // mean over asked positions
  double accuracy = 0;     // share of asked positions that are right
  double exact_match = 0;  // share of sequences with every asked position right
  Json json() const;
};

// Examples 0..examples-1 of the source, `at_a_time` sequences per pass.
Scores evaluate(LanguageModel& model, const ExampleSource& source, const TaskShape& shape, std::int64_t examples,
                std::int64_t at_a_time, LossHead& head);

}  // namespace mneme
