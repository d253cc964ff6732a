// A run's model under the microscope, and the examples that it is looked at with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "models/sequence_model.h"
#include "tasks/task.h"

namespace mneme::inspect {

// Examples 0..N-1 of the test split.
struct Examples {
  torch::Tensor input;  // [N, L]: tokens int32, or a signal float64
  std::vector<tasks::Example> examples;
  std::vector<std::vector<tasks::Role>> roles;     // of each position
  std::vector<std::vector<std::int32_t>> sources;  // Task::sources; empty where the task has none

  std::int64_t count() const { return input.size(0); }
  std::int64_t length() const { return input.size(1); }
  // The value and the key that are asked at a labelled position; -1 where the task does not say.
  struct Asked {
    std::int64_t value = -1, key = -1;
  };
  Asked asked(std::size_t example, std::int64_t t) const;
  // Positions with a label: all of a signal.
  std::vector<std::int64_t> labelled(std::size_t example) const;
};

struct Mixing;

// The model computes in float64 on the composed path (ops/path.h), and its parameters need no gradients: what an
// analysis differentiates by is what it taps (ops/tap.h).
class Subject {
 public:
  // With the weights of `model`, which is changed to float64. The run must outlive it.
  Subject(const config::RunConfig& run, std::shared_ptr<models::SequenceModel> model, std::int64_t step);
  // With initial weights.
  explicit Subject(const config::RunConfig& run);

  const config::RunConfig& run() const { return run_; }
  const tasks::Task& task() const { return *task_; }
  models::SequenceModel& model() const { return *model_; }
  std::int64_t step() const { return step_; }  // of training

  // Earlier steps whose weights were kept, ascending, and the model with them.
  using AtStep = std::function<std::shared_ptr<models::SequenceModel>(std::int64_t step)>;
  void set_kept(std::vector<std::int64_t> steps, AtStep at_step);
  const std::vector<std::int64_t>& kept_steps() const { return kept_steps_; }
  Subject at_step(std::int64_t step) const { return {run_, at_step_(step), step}; }

  Examples examples(std::int64_t count) const;

  // The loss at position at[r] of row r, [R]: cross entropy, or for a signal what the run minimises.
  // `rows` are examples.
  torch::Tensor losses(const Examples& examples, const std::vector<std::int64_t>& rows,
                       const std::vector<std::int64_t>& at) const;

  // The number of the layer that a module belongs to, and its name within the model; -1 if it is in none.
  std::int64_t layer_of(const torch::nn::Module& module) const;
  std::string name_of(const torch::nn::Module& module) const;

 private:
  const config::RunConfig& run_;
  std::unique_ptr<tasks::Task> task_;
  std::shared_ptr<models::SequenceModel> model_;
  std::int64_t step_;
  std::vector<std::int64_t> kept_steps_;
  AtStep at_step_;

  // By example: what two analyses share (mixing.h).
  friend const std::vector<std::vector<Mixing>>& matrices_of(const Subject& subject, const Examples& examples);
  mutable std::shared_ptr<const std::vector<std::vector<Mixing>>> matrices_;
};

}  // namespace mneme::inspect
