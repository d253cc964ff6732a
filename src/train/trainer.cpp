#include "train/trainer.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "models/initialise.h"

namespace mneme {
namespace {

std::uint64_t seed_of(const Options& train, const char* name) {
  return static_cast<std::uint64_t>(train.integer(name));
}

}  // namespace

Trainer::Trainer(const RunConfig& run)
    : run_(run),
      task_(run.task_entry->build(run.task)),
      model_(build_model(run)),
      order_(run.train.integer("examples"), run.train.integer("batch"), seed_of(run.train, "order_seed")) {
  initialise(*model_, run.model.text("init"), run.model.integer("layers"), Draw(seed_of(run.train, "init_seed")));
  parameters_ = std::make_unique<FlatParameters>(*model_);
  optimiser_ = std::make_unique<Optimiser>(*parameters_, run.train);
}

Progress Trainer::step() {
  const ExampleSource source(*task_, seed_of(run_.train, "data_seed"), Split::train);
  const std::vector<std::uint64_t> indices = order_.indices(position_.step);
  const auto micro = static_cast<std::size_t>(run_.train.integer("micro_batch"));

  // The loss is a mean over the whole batch, so all answers are counted before the first backward pass.
  std::vector<Batch> batches;
  std::size_t asked = 0;
  for (std::size_t first = 0; first < indices.size(); first += micro) {
    const auto part = std::span(indices).subspan(first, std::min(micro, indices.size() - first));
    batches.push_back(make_batch(source, run_.shape, part));
    asked += batches.back().answers.size();
  }

  parameters_->gradients.zero_();
  double loss = 0;
  std::int64_t correct = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const Batch& batch = batches[i];
    Pass pass = Pass::training(seed_of(run_.train, "dropout_seed"), static_cast<std::uint64_t>(position_.step), i);
    const torch::Tensor hidden = model_->hidden(batch.tokens, pass).flatten(0, 1);                // [B * L, D]
    const torch::Tensor rows = hidden.index_select(0, torch::tensor(batch.asked));                // [asked, D]
    torch::Tensor rows_gradient;
    const HeadResult result = head_.train(rows.detach(), model_->output_matrix(), batch.answers,
                                          1.0 / static_cast<double>(asked), rows_gradient);
    rows.backward(rows_gradient);
    loss += result.loss_sum;
    correct += result.correct;
  }
  optimiser_->update(position_.step);

  ++position_.step;
  loss /= static_cast<double>(asked);
  position_.loss_sum += loss;
  ++position_.loss_steps;
  return {position_.step, loss, static_cast<double>(correct) / static_cast<double>(asked)};
}

TrainResult Trainer::train(const Path& checkpoint, TrainObserver& observer) {
  const std::int64_t steps = run_.train.integer("steps"), every = run_.train.integer("eval_every");
  while (position_.step < steps && !solved()) {
    const Progress progress = step();
    if (!std::isfinite(progress.loss)) return finish(Outcome::diverged, "the training loss is not finite");
    observer.on_step(progress);
    if (position_.step % every == 0 || position_.step == steps) {
      if (!evaluate_validation(observer)) return finish(Outcome::diverged, "the validation loss is not finite");
    }
    const bool last = position_.step == steps || solved();
    const bool stop = observer.wants_stop();
    if (stop || last || observer.wants_checkpoint()) {
      save(checkpoint);
      observer.on_checkpoint(position_.step);
    }
    if (stop && !last) return finish(Outcome::interrupted, "asked to stop");
  }
  return finish(Outcome::done, solved() ? "threshold" : "budget");
}

bool Trainer::solved() const {
  const double stop_at = run_.train.real("stop_at");
  return stop_at > 0 && !position_.validation.is_null() && position_.validation["accuracy"].get<double>() >= stop_at;
}

bool Trainer::evaluate_validation(TrainObserver& observer) {
  const ExampleSource source(*task_, seed_of(run_.train, "data_seed"), Split::validation);
  const Scores scores = evaluate(*model_, source, run_.shape, run_.train.integer("eval_examples"),
                                 run_.train.integer("micro_batch"), head_);
  if (!std::isfinite(scores.loss)) return false;
  position_.validation = scores.json();
  if (scores.accuracy > position_.best_accuracy) {
    position_.best_accuracy = scores.accuracy;
    position_.best_step = position_.step;
  }
  Json values = position_.validation;
  values["train_loss"] = position_.loss_sum / static_cast<double>(std::max<std::int64_t>(position_.loss_steps, 1));
  position_.loss_sum = 0;
  position_.loss_steps = 0;
  observer.on_metric(position_.step, values);
  return true;
}

TrainResult Trainer::finish(Outcome outcome, std::string reason) {
  TrainResult result{outcome, std::move(reason), {}};
  result.values = {{"step", position_.step}, {"parameters", parameters_->size()}};
  if (!position_.validation.is_null()) {
    result.values["validation"] = position_.validation;
    result.values["best"] = {{"step", position_.best_step}, {"accuracy", position_.best_accuracy}};
  }
  if (outcome == Outcome::done) {
    const ExampleSource source(*task_, seed_of(run_.train, "data_seed"), Split::test);
    result.values["test"] = evaluate(*model_, source, run_.shape, run_.train.integer("test_examples"),
                                     run_.train.integer("micro_batch"), head_)
                                .json();
    result.values["weights_sha256"] = parameters_->hash();
  }
  return result;
}

}  // namespace mneme
