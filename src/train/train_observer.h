// Who listens to a run.
#pragma once

#include <cstdint>

#include "core/json.h"

namespace mneme::train {

struct Progress {
  std::int64_t step = 0;
  double loss = 0;      // of the last step's batch
  double accuracy = 0;  // of the last step's batch
};

// The trainer writes no files of its own but checkpoints.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void on_step(const Progress& progress) = 0;
  virtual void on_metric(std::int64_t step, const Json& values) = 0;
  // During evaluations, now and then: the run is alive.
  virtual void on_evaluating() {}
  // Called after every step: write a checkpoint now?
  virtual bool wants_checkpoint() = 0;
  virtual void on_checkpoint(std::int64_t step, double seconds) = 0;
  // Asked after every step, and while the trained model is tested: leave, with a checkpoint?
  virtual bool wants_stop() = 0;
};

}  // namespace mneme::train
