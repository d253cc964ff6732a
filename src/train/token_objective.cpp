#include <algorithm>
#include <limits>
#include <numeric>

#include "train/answer_detail.h"
#include "train/batch.h"
#include "train/loss_head.h"
#include "train/objective.h"
#include "train/streaming.h"

namespace mneme::train {
namespace {

// Cross entropy on the labelled positions.
class TokenObjective : public Objective {
 public:
  TokenObjective(const config::RunConfig& run, const tasks::Task& task, models::SequenceModel& model,
                 config::Reading reading)
      : run_(run), task_(task), model_(model), reading_(reading) {}

  BatchScore accumulate(std::span<const std::uint64_t> indices, std::uint64_t step) override {
    const tasks::ExampleSource source = source_of(tasks::Split::train);
    // The loss is a mean over the whole batch, so all answers are counted before the first backward pass.
    std::vector<Batch> batches;
    std::size_t labelled = 0;
    for (std::size_t first = 0; first < indices.size(); first += micro()) {
      batches.push_back(
          make_batch(source, run_.shape, indices.subspan(first, std::min(micro(), indices.size() - first))));
      labelled += batches.back().answers.size();
    }
    double loss = 0, largest = -std::numeric_limits<double>::infinity();
    std::int64_t correct = 0;
    const auto dropout = static_cast<std::uint64_t>(run_.train.integer("dropout_seed"));
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const Batch& batch = batches[i];
      if (batch.answers.empty()) continue;
      nn::Pass pass = nn::Pass::training(dropout, step, i);
      const torch::Tensor hidden = labelled_hidden(batch, pass);  // [R, D]
      torch::Tensor dhidden;
      const HeadResult result = train_head(hidden.detach(), model_.output_matrix(), model_.output_bias(), batch.answers,
                                           1.0 / static_cast<double>(labelled), dhidden);
      hidden.backward(dhidden);
      loss += result.loss_sum;
      correct += result.correct;
      // Not std::max, which would forget a NaN.
      if (!(result.largest <= largest)) largest = result.largest;
    }
    const auto labels = static_cast<double>(std::max<std::size_t>(labelled, 1));
    return {loss / labels, static_cast<double>(correct) / labels, largest};
  }

  Scores evaluate(tasks::Split split, std::int64_t examples, const EvaluationTick& tick, Depth depth) override {
    if (reading_ == config::Reading::stepwise)
      return evaluate_streamed(run_, task_, model_, split, examples, tick, depth);
    const torch::NoGradGuard guard;
    const tasks::ExampleSource source = source_of(split);
    double loss = 0;
    std::int64_t labelled = 0, correct = 0, exact = 0;
    AnswerDetail detail(run_, task_);
    for (std::int64_t first = 0; first < examples; first += static_cast<std::int64_t>(micro())) {
      std::vector<std::uint64_t> indices(std::min(micro(), static_cast<std::size_t>(examples - first)));
      std::iota(indices.begin(), indices.end(), static_cast<std::uint64_t>(first));
      const Batch batch = make_batch(source, run_.shape, indices);
      nn::Pass pass = nn::Pass::evaluation();
      const HeadResult result =
          evaluate_head(labelled_hidden(batch, pass), model_.output_matrix(), model_.output_bias(), batch.answers);
      loss += result.loss_sum;
      labelled += static_cast<std::int64_t>(batch.answers.size());
      correct += result.correct;
      std::vector<char> all_right(indices.size(), 1);
      for (std::size_t i = 0; i < batch.answers.size(); ++i)
        if (result.predictions[i] != batch.answers[i]) all_right[static_cast<std::size_t>(batch.sequence[i])] = 0;
      exact += std::count(all_right.begin(), all_right.end(), 1);
      if (depth == Depth::detail) add_detail(detail, batch, result.predictions);
      tick();
    }
    const auto labels = static_cast<double>(std::max<std::int64_t>(labelled, 1));
    return {loss / labels,
            static_cast<double>(correct) / labels,
            static_cast<double>(exact) / static_cast<double>(examples),
            {},
            depth == Depth::detail ? detail.json() : Json::object()};
  }

 private:
  // The answers of a batch, as whole sequences with label and prediction at each labelled position.
  static void add_detail(AnswerDetail& detail, const Batch& batch, std::span<const std::int32_t> predictions) {
    const auto length = static_cast<std::size_t>(batch.length());
    std::vector<std::int32_t> tokens(length), labels(length), predicted(length);
    const auto* all = batch.tokens.data_ptr<std::int32_t>();
    std::size_t answer = 0;
    for (std::size_t b = 0; b < static_cast<std::size_t>(batch.sequences()); ++b) {
      std::copy_n(all + b * length, length, tokens.begin());
      std::fill(labels.begin(), labels.end(), tasks::kUnlabelled);
      for (; answer < batch.answers.size() && static_cast<std::size_t>(batch.sequence[answer]) == b; ++answer) {
        const std::size_t at = static_cast<std::size_t>(batch.labelled[answer]) - b * length;
        labels[at] = batch.answers[answer];
        predicted[at] = predictions[answer];
      }
      detail.add(tokens, labels, predicted);
    }
  }

  tasks::ExampleSource source_of(tasks::Split split) const {
    return {task_, static_cast<std::uint64_t>(run_.train.integer("data_seed")), split};
  }
  std::size_t micro() const { return static_cast<std::size_t>(run_.train.integer("micro_batch")); }

  torch::Tensor labelled_hidden(const Batch& batch, nn::Pass& pass) {
    const torch::Device device = model_.device();
    return model_.hidden_at(batch.tokens.to(device), torch::tensor(batch.labelled).to(device), pass);
  }

  const config::RunConfig& run_;
  const tasks::Task& task_;
  models::SequenceModel& model_;
  config::Reading reading_;
};

}  // namespace

std::unique_ptr<Objective> make_token_objective(const config::RunConfig& run, const tasks::Task& task,
                                                models::SequenceModel& model, config::Reading reading) {
  return std::make_unique<TokenObjective>(run, task, model, reading);
}

}  // namespace mneme::train
