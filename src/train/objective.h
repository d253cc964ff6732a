// What a run minimises: the model on its task, forward and backward.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "config/evaluation.h"
#include "config/run_config.h"
#include "core/json.h"
#include "models/sequence_model.h"
#include "tasks/task.h"

namespace mneme::train {

struct Scores {
  double loss = 0;                      // mean over labelled positions
  double accuracy = 0;                  // share of labelled positions that are right
  double exact_match = 0;               // share of sequences with every labelled position right
  std::map<std::string, double> extra;  // the task's own metrics
  Json detail = Json::object();         // those of answer_detail.h, if they were asked for
  Json json() const;
};

// Loss and accuracy of a training batch, each a mean over its labelled positions, and its largest output.
struct BatchScore {
  double loss = 0;
  double accuracy = 0;
  double largest_logit = 0;  // of a signal in absolute value; NaN if one is
};

using EvaluationTick = std::function<void()>;

// What an evaluation reports: its scores; or also where in the sequence answers are right, which costs a look at every
// example and is for the last test.
enum class Depth { scores, detail };

class Objective {
 public:
  virtual ~Objective() = default;

  // Adds the gradient of the mean loss over these training examples to the parameters' grad(), in
  // micro-batches. `step` numbers the dropout masks.
  virtual BatchScore accumulate(std::span<const std::uint64_t> indices, std::uint64_t step) = 0;

  // Scores on examples 0..examples-1 of a split. `tick` is called after each micro-batch, and may throw to leave.
  virtual Scores evaluate(tasks::Split split, std::int64_t examples, const EvaluationTick& tick,
                          Depth depth = Depth::scores) = 0;
};

// The objective that fits the run's task; model and run must outlive it. `reading` is how evaluate() reads sequences.
std::unique_ptr<Objective> make_objective(const config::RunConfig& run, const tasks::Task& task,
                                          models::SequenceModel& model,
                                          config::Reading reading = config::Reading::whole);
std::unique_ptr<Objective> make_token_objective(const config::RunConfig& run, const tasks::Task& task,
                                                models::SequenceModel& model, config::Reading reading);
std::unique_ptr<Objective> make_signal_objective(const config::RunConfig& run, const tasks::Task& task,
                                                 models::SequenceModel& model, config::Reading reading);

// What a signal model predicts, on from 0.5, from what SequenceModel::signal gives: probabilities, unless the run
// minimises the squared error.
torch::Tensor signal_output(const config::RunConfig& run, const torch::Tensor& raw);

}  // namespace mneme::train
