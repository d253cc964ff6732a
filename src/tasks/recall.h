// What the recall tasks (mqar, forgetting_mqar, compositional_mqar) share: the region of questions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tasks/sampling.h"
#include "tasks/task.h"

namespace mneme::tasks {

// After the context comes a row of slots, all equally wide. Each query is in a slot of its own,
// every other token is filler. Slot g is drawn first with weight (g + 1)^(power - 1); slots are drawn
// without replacement, one for each question in the order of the context.
class QuestionRegion {
 public:
  QuestionRegion(std::int64_t slots, const Options& options);

  // Fills `region` with filler.
  void fill(Random& random, std::span<std::int32_t> region) const;
  // One slot per question.
  void place(Random& random, std::span<std::int32_t> slots) const { slots_.draw(random, slots); }

 private:
  WeightedPlaces slots_;
  bool random_filler_;
  std::uint32_t vocab_;
};

// The options that these tasks have in common: power, filler.
Field power_field();
Field filler_field();

// Rejects a `length` that is not a multiple of the slot width or leaves fewer than `pairs` slots after
// `context` tokens.
void check_recall_sizes(const Options& options, std::int64_t width, std::int64_t context);
// Rejects a `vocab` that is not larger than `length`: then each part of it holds as many tokens as needed.
void check_recall_vocabulary(const Options& options);

}  // namespace mneme::tasks
