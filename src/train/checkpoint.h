// Where a run's checkpoints are kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/commit.h"

namespace mneme::train {

// Two generations, each sealed with a checksum: writing the newest moves the one before it aside, so at every
// instant one of them is whole.
struct CheckpointFiles {
  // `previous` is "NAME.previous.EXTENSION" next to it, and so is the folder `kept`, "weights".
  CheckpointFiles(Path newest);  // NOLINT: a path will do
  CheckpointFiles(Path newest, Path older, Path kept_weights, CommitGate allowed)
      : current(std::move(newest)),
        previous(std::move(older)),
        kept(std::move(kept_weights)),
        gate(std::move(allowed)) {}

  Path current, previous;
  Path kept;  // a folder: the weights at the steps of train.keep
  CommitGate gate;

  Path kept_at(std::int64_t step) const { return kept / (std::to_string(step) + ".safetensors"); }
};

// What was found when a run resumed.
struct Recovery {
  bool resumed = false;
  std::vector<std::string> notes;  // for the log: which generation, and what was wrong with the other
};

}  // namespace mneme::train
