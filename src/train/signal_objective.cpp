#include <algorithm>
#include <numeric>

#include "ops/profile.h"
#include "tasks/phase_tests.h"
#include "train/objective.h"
#include "train/streaming.h"

namespace mneme::train {
namespace {

struct SignalBatch {
  torch::Tensor input, targets;  // [B, L] each

  SignalBatch on(torch::Device device) const { return {input.to(device), targets.to(device)}; }
};

// Binary cross entropy or squared error on every step; an output counts as on from 0.5.
class SignalObjective : public Objective {
 public:
  SignalObjective(const config::RunConfig& run, const tasks::Task& task, models::SequenceModel& model,
                  config::Reading reading)
      : run_(run),
        task_(task),
        model_(model),
        squared_(run.train.text("signal_loss") == "mse"),
        stepwise_(reading == config::Reading::stepwise) {}

  BatchScore accumulate(std::span<const std::uint64_t> indices, std::uint64_t step) override {
    const auto micro = static_cast<std::size_t>(run_.train.integer("micro_batch"));
    const auto dropout = static_cast<std::uint64_t>(run_.train.integer("dropout_seed"));
    const double steps = static_cast<double>(indices.size()) * static_cast<double>(run_.shape.length);
    double loss_sum = 0, right = 0, largest = 0;
    for (std::size_t first = 0, i = 0; first < indices.size(); first += micro, ++i) {
      const SignalBatch batch =
          make(tasks::Split::train, indices.subspan(first, std::min(micro, indices.size() - first)))
              .on(model_.device());
      nn::Pass pass = nn::Pass::training(dropout, step, i);
      const torch::Tensor output = model_.signal(batch.input, pass);
      const torch::Tensor loss = summed_loss(output, batch.targets);
      (loss / steps).backward();
      loss_sum += loss.item<double>();
      right += correct(output, batch.targets).sum().item<double>();
      if (const double most = output.detach().abs().max().item<double>(); !(most <= largest)) largest = most;
    }
    return {loss_sum / steps, right / steps, largest};
  }

  Scores evaluate(tasks::Split split, std::int64_t examples, const EvaluationTick& tick, Depth) override {
    const torch::NoGradGuard guard;
    const std::int64_t micro = run_.train.integer("micro_batch");
    double loss = 0, right = 0, exact = 0;
    tasks::OffsetScore offsets;
    for (std::int64_t first = 0; first < examples; first += micro) {
      std::vector<std::uint64_t> indices(static_cast<std::size_t>(std::min(micro, examples - first)));
      std::iota(indices.begin(), indices.end(), static_cast<std::uint64_t>(first));
      const SignalBatch made = make(split, indices), batch = made.on(model_.device());
      nn::Pass pass = nn::Pass::evaluation();
      const torch::Tensor raw =
          (stepwise_ ? streamed_signal(model_, batch.input, tick) : model_.signal(batch.input, pass)).contiguous();
      loss += summed_loss(raw, batch.targets).item<double>();
      const torch::Tensor hits = correct(raw, batch.targets);
      right += hits.sum().item<double>();
      exact += hits.all(1).sum().item<double>();
      add_offsets(offsets, made, signal_output(run_, raw).cpu().contiguous());
      tick();
    }
    const double steps = static_cast<double>(examples) * static_cast<double>(run_.shape.length);
    return {loss / steps,
            right / steps,
            exact / static_cast<double>(examples),
            {{"offset", offsets.share()}},
            Json::object()};
  }

 private:
  SignalBatch make(tasks::Split split, std::span<const std::uint64_t> indices) const {
    const ops::Part part("data");
    const tasks::ExampleSource source(task_, static_cast<std::uint64_t>(run_.train.integer("data_seed")), split);
    const std::int64_t B = static_cast<std::int64_t>(indices.size()), L = run_.shape.length;
    SignalBatch batch{torch::empty({B, L}), torch::empty({B, L})};
    for (std::int64_t b = 0; b < B; ++b)
      source.write(
          indices[static_cast<std::size_t>(b)],
          {.tokens = {}, .labels = {}, .signal = sequence(batch.input, b), .targets = sequence(batch.targets, b)});
    return batch;
  }

  static std::span<float> sequence(const torch::Tensor& tensor, std::int64_t b) {
    return {tensor.data_ptr<float>() + b * tensor.size(1), static_cast<std::size_t>(tensor.size(1))};
  }

  torch::Tensor summed_loss(const torch::Tensor& output, const torch::Tensor& targets) const {
    const ops::Part part("head");
    if (squared_) return torch::mse_loss(output, targets, torch::Reduction::Sum);
    return torch::binary_cross_entropy_with_logits(output, targets, {}, {}, torch::Reduction::Sum);
  }

  // A logit is on from 0, an output of the squared loss from 0.5.
  torch::Tensor correct(const torch::Tensor& output, const torch::Tensor& targets) const {
    return (output >= (squared_ ? 0.5 : 0.0)) == (targets >= 0.5);
  }

  static void add_offsets(tasks::OffsetScore& offsets, const SignalBatch& batch, const torch::Tensor& outputs) {
    for (std::int64_t b = 0; b < outputs.size(0); ++b)
      offsets.add(sequence(batch.input, b), sequence(batch.targets, b), sequence(outputs, b));
  }

  const config::RunConfig& run_;
  const tasks::Task& task_;
  models::SequenceModel& model_;
  bool squared_, stepwise_;
};

}  // namespace

torch::Tensor signal_output(const config::RunConfig& run, const torch::Tensor& raw) {
  return run.train.text("signal_loss") == "mse" ? raw : torch::sigmoid(raw);
}

std::unique_ptr<Objective> make_signal_objective(const config::RunConfig& run, const tasks::Task& task,
                                                 models::SequenceModel& model, config::Reading reading) {
  return std::make_unique<SignalObjective>(run, task, model, reading);
}

}  // namespace mneme::train
