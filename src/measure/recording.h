// What recording the last steps for the autopsy costs (docs/run-directory.md).
#pragma once

#include "config/run_config.h"
#include "ops/torch.h"

namespace mneme::measure {

// Seconds of this thread's processor time in a training step, medians.
struct RecordingCost {
  double recording = 0;      // norms and changes of each group of parameters, decays, the ring of steps
  double gradient_norm = 0;  // of the whole gradient, which clipping and the metrics need
};

// Updates of a model of this run with these gradients [n], with and without recording in turns. What the loss head
// adds for the largest logit is not in it: softmax has found that logit anyway.
RecordingCost recording_cost(const config::RunConfig& run, const torch::Tensor& gradients);

}  // namespace mneme::measure
