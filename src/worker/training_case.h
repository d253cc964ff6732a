// The first step of a run as a file, for programs that are compared with ours.
#pragma once

#include "core/files.h"
#include "train/trainer.h"

namespace mneme::worker {

// Carries out the trainer's first step and writes a safetensors file: the weights before it (param.*), the batch
// (tokens [B, L], labelled: flat positions, answers), and as metadata the configuration, the loss and the norm of the
// gradient. Token tasks only.
void save_training_case(const Path& path, train::Trainer& trainer, const config::RunConfig& run);

}  // namespace mneme::worker
