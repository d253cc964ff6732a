#include "train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tuple>

#include "core/error.h"
#include "models/initialise.h"
#include "ops/profile.h"
#include "train/device.h"
#include "train/generalisation.h"
#include "train/signals.h"
#include "train/weights.h"

namespace mneme::train {
namespace {

std::uint64_t seed_of(const Options& train, const char* name) {
  return static_cast<std::uint64_t>(train.integer(name));
}

}  // namespace

Trainer::Trainer(const config::RunConfig& run) : Trainer(run, device_of(run.train.text("device"))) {}

Trainer::Trainer(const config::RunConfig& run, torch::Device device)
    : run_(run),
      task_(run.task_entry->build(run.task)),
      model_(models::build_model(run)),
      order_(run.train.integer("examples"), run.train.integer("batch"), seed_of(run.train, "order_seed")) {
  // Drawn on the host, so that the initial weights are the same everywhere.
  models::initialise(*model_, run, nn::Draw(seed_of(run.train, "init_seed")));
  parameters_ = std::make_unique<FlatParameters>(*model_, device);
  optimiser_ = std::make_unique<Optimiser>(*parameters_, run.train);
  objective_ = make_objective(run, *task_, *model_);
  decays_ = std::make_unique<Decays>(*parameters_);
  for (const auto& segment : parameters_->segments()) trace_.groups.push_back(segment.name);
}

void Trainer::clear_gradients() {
  const ops::Part part("optimiser");
  parameters_->gradients.zero_();
}

Progress Trainer::step() {
  clear_gradients();
  const std::vector<std::uint64_t> indices = order_.indices(position_.step);
  const BatchScore score = objective_->accumulate(indices, static_cast<std::uint64_t>(position_.step));
  TraceStep trace;
  note_step(score, optimiser_->update(position_.step, tracing_ ? &trace : nullptr));
  if (tracing_) note_trace(std::move(trace), score);
  return {position_.step, score.loss, score.accuracy};
}

void Trainer::note_trace(TraceStep trace, const BatchScore& score) {
  trace.step = position_.step;
  trace.loss = static_cast<float>(score.loss);
  trace.largest_logit = static_cast<float>(score.largest_logit);
  std::tie(trace.smallest_decay, trace.largest_decay) = decays_->range();
  trace_.add(std::move(trace));
}

void Trainer::note_step(const BatchScore& score, double gradient_norm) {
  ++position_.step;
  position_.loss_sum += score.loss;
  ++position_.loss_steps;
  position_.accuracy_sum += score.accuracy;
  position_.gradient_sum += gradient_norm;
  // Not std::max, which would forget a NaN.
  if (!(gradient_norm <= position_.gradient_most)) position_.gradient_most = gradient_norm;
  ++position_.noted_steps;
}

Json Trainer::training_values() const {
  const auto mean = [](double sum, std::int64_t steps) {
    return sum / static_cast<double>(std::max<std::int64_t>(steps, 1));
  };
  return {{"train_loss", mean(position_.loss_sum, position_.loss_steps)},
          {"train_accuracy", finite_or_null(mean(position_.accuracy_sum, position_.noted_steps))},
          {"learning_rate", learning_rate(run_.train, position_.step - 1)},
          {"gradient_norm", finite_or_null(mean(position_.gradient_sum, position_.noted_steps))},
          {"gradient_norm_max", finite_or_null(position_.gradient_most)},
          {"parameter_norm", finite_or_null(parameters_->norm())}};
}

TrainResult Trainer::train(const CheckpointFiles& files, TrainObserver& observer) {
  const std::int64_t steps = run_.train.integer("steps"), every = run_.train.integer("eval_every");
  if (position_.step == 0) keep_if_chosen(files);
  while (position_.step < steps && verdict().empty()) {
    const Progress progress = step();
    if (!std::isfinite(progress.loss)) return finish(Outcome::diverged, "the training loss is not finite");
    // Before any checkpoint of this step: who resumes from one finds all that was to be kept until then.
    keep_if_chosen(files);
    observer.on_step(progress);
    if (position_.step % every == 0 || position_.step == steps) {
      if (!evaluate_validation(observer)) return finish(Outcome::diverged, "the validation loss is not finite");
    }
    const bool last = position_.step == steps || !verdict().empty();
    const bool stop = observer.wants_stop();
    if (stop || last || observer.wants_checkpoint()) save_and_tell(files, observer);
    if (stop && !last) return finish(Outcome::interrupted, "stop requested");
  }
  const std::string early = verdict();
  return finish_tested(early.empty() ? "budget" : early, observer);
}

void Trainer::keep_if_chosen(const CheckpointFiles& files) const {
  const std::vector<std::int64_t> chosen = run_.train.integers("keep");
  if (std::binary_search(chosen.begin(), chosen.end(), position_.step))
    keep_weights(run_, *parameters_, position_.step, files);
}

void Trainer::save_and_tell(const CheckpointFiles& files, TrainObserver& observer) const {
  const auto start = std::chrono::steady_clock::now();
  save(files);
  observer.on_checkpoint(position_.step,
                         std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

std::string Trainer::verdict() const {
  if (position_.metrics.empty()) return "";
  const double stop_at = run_.train.real("stop_at");
  const std::string score = run_.train.text("stop_on");
  if (stop_at > 0 && position_.validation[score].get<double>() >= stop_at) return "threshold";
  const double after = run_.train.real("give_up_after") * static_cast<double>(run_.train.integer("steps"));
  const auto evaluated = position_.metrics.back()["step"].get<double>();
  // At the very end there is nothing left to give up.
  const bool late = after > 0 && evaluated >= after && position_.step < run_.train.integer("steps");
  if (!late) return "";
  double best = 0;
  for (const Json& metric : position_.metrics) best = std::max(best, metric["values"][score].get<double>());
  return best < run_.train.real("give_up_below") ? "hopeless" : "";
}

bool Trainer::evaluate_validation(TrainObserver& observer) {
  const Scores scores = objective_->evaluate(tasks::Split::validation, run_.train.integer("eval_examples"),
                                             [&] { observer.on_evaluating(); });
  if (!std::isfinite(scores.loss)) return false;
  position_.validation = scores.json();
  if (scores.accuracy > position_.best_accuracy) {
    position_.best_accuracy = scores.accuracy;
    position_.best_step = position_.step;
  }
  Json values = position_.validation;
  values.update(training_values());
  position_.loss_sum = position_.accuracy_sum = position_.gradient_sum = position_.gradient_most = 0;
  position_.loss_steps = position_.noted_steps = 0;
  position_.metrics.push_back({{"step", position_.step}, {"values", values}});
  observer.on_metric(position_.step, values);
  return true;
}

TrainResult Trainer::finish(Outcome outcome, std::string reason) {
  TrainResult result{outcome, std::move(reason), {}, {}};
  result.values = {{"step", position_.step}, {"parameters", parameters_->size()}};
  if (!position_.validation.is_null()) {
    result.values["validation"] = position_.validation;
    result.values["best"] = {{"step", position_.best_step}, {"accuracy", position_.best_accuracy}};
  }
  return result;
}

TrainResult Trainer::finish_tested(std::string reason, TrainObserver& observer) {
  struct Leaving {};
  const EvaluationTick tick = [&] {
    observer.on_evaluating();
    if (observer.wants_stop()) throw Leaving();
  };
  try {
    TrainResult result = finish(Outcome::done, std::move(reason));
    result.values["test"] =
        objective_->evaluate(tasks::Split::test, run_.train.integer("test_examples"), tick, Depth::detail).json();
    if (!run_.test.text("along").empty()) result.values["generalisation"] = generalisation(run_, *model_, tick);
    if (run_.test.flag("phases")) result.values["phases"] = phase_results(run_, *model_, *objective_, tick);
    if (run_.test.integer("traces") > 0) result.traces = traces(run_, *task_, *model_);
    result.values["weights_sha256"] = parameters_->hash();
    return result;
  } catch (const Leaving&) {
    // The last step's checkpoint is on the disk: the next attempt comes here at once.
    return finish(Outcome::interrupted, "stop requested");
  }
}

}  // namespace mneme::train
