// One run, from the first step (or a checkpoint) to its outcome.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "catalog/run_config.h"
#include "core/files.h"
#include "core/json.h"
#include "models/sequence_model.h"
#include "train/batch.h"
#include "train/checkpoint.h"
#include "train/objective.h"
#include "train/optimiser.h"
#include "train/parameters.h"

namespace mneme {

struct Progress {
  std::int64_t step = 0;
  double loss = 0;      // of the last step's batch
  double accuracy = 0;  // of the last step's batch
};

// Who listens to a run. The trainer writes no files of its own but checkpoints.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void on_step(const Progress& progress) = 0;
  virtual void on_metric(std::int64_t step, const Json& values) = 0;
  // Asked after every step: write a checkpoint now?
  virtual bool wants_checkpoint() = 0;
  virtual void on_checkpoint(std::int64_t step, double seconds) = 0;
  // Asked after every step: leave, with a checkpoint?
  virtual bool wants_stop() = 0;
};

enum class Outcome { done, diverged, interrupted };

struct TrainResult {
  Outcome outcome = Outcome::done;
  std::string reason;  // "budget", "threshold", "hopeless", "the training loss is not finite", ...
  Json values;         // deterministic: see docs/run-directory.md
};

class Trainer {
 public:
  explicit Trainer(const RunConfig& run);

  // Goes on from a checkpoint of the same run; throws Error(data) if it is damaged or of another run.
  void restore(const Path& checkpoint);
  // Goes on from the newest checkpoint that is whole; from the start if there is none.
  Recovery recover(const CheckpointFiles& files);
  void save(const CheckpointFiles& files) const;
  std::int64_t checkpoint_bytes() const;  // about

  // Trains to the end.
  TrainResult train(const CheckpointFiles& files, TrainObserver& observer);

  // One optimiser step; public for the benchmark.
  Progress step();

  std::int64_t position() const { return position_.step; }
  // Every evaluation so far, {"step", "values"} each: those of an earlier process come from its checkpoint.
  const Json& metrics() const { return position_.metrics; }
  SequenceModel& model() { return *model_; }
  const FlatParameters& parameters() const { return *parameters_; }

 private:
  // Everything besides weights and moments that the next step depends on.
  struct Position {
    std::int64_t step = 0;
    double loss_sum = 0;          // training loss since the last evaluation
    std::int64_t loss_steps = 0;
    Json validation;              // last finite evaluation, null before the first
    Json metrics = Json::array();
    std::int64_t best_step = 0;
    double best_accuracy = -1;
    Json json() const;
    static Position from_json(const Json& json);
  };

  bool evaluate_validation(TrainObserver& observer);  // false if the model is no longer finite
  // Why training need not go on: "threshold" (train.stop_at is reached), "hopeless" (train.give_up_after has
  // passed without train.give_up_below), or "".
  std::string verdict() const;
  void save_and_tell(const CheckpointFiles& files, TrainObserver& observer) const;
  TrainResult finish(Outcome outcome, std::string reason);

  const RunConfig& run_;
  std::unique_ptr<Task> task_;
  std::shared_ptr<SequenceModel> model_;
  std::unique_ptr<FlatParameters> parameters_;
  std::unique_ptr<Optimiser> optimiser_;
  ExampleOrder order_;
  std::unique_ptr<Objective> objective_;
  Position position_;
};

}  // namespace mneme
