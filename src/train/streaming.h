// A model over sequences token by token: what is held does not grow with the sequence, but for the tokens themselves
// and the state of mixers whose state grows (attention's cache).
#pragma once

#include "train/objective.h"

namespace mneme::train {

// What Objective::evaluate() gives for token tasks, computed through SequenceModel::step. The sequences of a
// micro-batch go through time together; logits are made of some hundred hidden states at a time.
Scores evaluate_streamed(const config::RunConfig& run, const tasks::Task& task, models::SequenceModel& model,
                         tasks::Split split, std::int64_t examples, const EvaluationTick& tick, Depth depth);

// SequenceModel::signal() through step: [B, L] -> [B, L].
torch::Tensor streamed_signal(models::SequenceModel& model, const torch::Tensor& input, const EvaluationTick& tick);

}  // namespace mneme::train
