// One run, from the first step (or a checkpoint) to its outcome.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "config/run_config.h"
#include "core/autopsy.h"
#include "core/files.h"
#include "core/json.h"
#include "models/sequence_model.h"
#include "train/batch.h"
#include "train/checkpoint.h"
#include "train/decays.h"
#include "train/objective.h"
#include "train/optimiser.h"
#include "train/parameters.h"
#include "train/train_observer.h"

namespace mneme::train {

// The number, or null if it is not finite: JSON has no other word for it.
inline Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

enum class Outcome { done, diverged, interrupted };

struct TrainResult {
  Outcome outcome = Outcome::done;
  std::string reason;  // "budget", "threshold", "hopeless", "the training loss is not finite", ...
  Json values;         // deterministic: see docs/run-directory.md
  Json traces;         // what traces.json will hold; null: nothing
};

class Trainer {
 public:
  // Where train.device says. Throws Error(usage) if the libtorch at hand has no such device.
  explicit Trainer(const config::RunConfig& run);
  Trainer(const config::RunConfig& run, torch::Device device);

  // Resumes from a checkpoint of the same run; throws Error(data) if it is damaged or of another run.
  void restore(const Path& checkpoint);
  // Resumes from the newest intact checkpoint; from the start if there is none.
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
  models::SequenceModel& model() { return *model_; }
  const FlatParameters& parameters() const { return *parameters_; }
  // The last steps by group of parameters. It is recorded always; a benchmark may switch that off to see what it costs.
  const TrainingTrace& trace() const { return trace_; }
  void record_trace(bool on) { tracing_ = on; }

 private:
  // Everything that the next step depends on, except weights and moments.
  struct Position {
    std::int64_t step = 0;
    double loss_sum = 0;  // training loss since the last evaluation
    std::int64_t loss_steps = 0;
    // Since the last evaluation too; NaN once one of them was not finite. A checkpoint of version 0.1 has none of
    // these, so the steps are counted apart.
    double accuracy_sum = 0, gradient_sum = 0, gradient_most = 0;
    std::int64_t noted_steps = 0;
    Json validation;  // last finite evaluation, null before the first
    Json metrics = Json::array();
    std::int64_t best_step = 0;
    double best_accuracy = -1;
    Json json() const;
    static Position from_json(const Json& json);
  };

  void clear_gradients();
  void note_trace(TraceStep step, const BatchScore& score);
  void note_step(const BatchScore& score, double gradient_norm);
  // Recorded at an evaluation with the scores: means since the previous one, and the weights as they are.
  Json training_values() const;
  bool evaluate_validation(TrainObserver& observer);  // false if the model is no longer finite
  // Why training can stop: "threshold" (train.stop_at is reached), "hopeless" (train.give_up_after has
  // passed without train.give_up_below), or "".
  std::string verdict() const;
  // Keeps the weights if the position is one of train.keep.
  void keep_if_chosen(const CheckpointFiles& files) const;
  void save_and_tell(const CheckpointFiles& files, TrainObserver& observer) const;
  TrainResult finish(Outcome outcome, std::string reason);
  // The outcome done, with every test of the final weights; interrupted if the observer wants to leave meanwhile.
  TrainResult finish_tested(std::string reason, TrainObserver& observer);

  const config::RunConfig& run_;
  std::unique_ptr<tasks::Task> task_;
  std::shared_ptr<models::SequenceModel> model_;
  std::unique_ptr<FlatParameters> parameters_;
  std::unique_ptr<Optimiser> optimiser_;
  ExampleOrder order_;
  std::unique_ptr<Objective> objective_;
  std::unique_ptr<Decays> decays_;
  TrainingTrace trace_;
  bool tracing_ = true;
  Position position_;
};

}  // namespace mneme::train
