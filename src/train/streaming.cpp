#include "train/streaming.h"

#include <algorithm>
#include <span>

#include "core/error.h"
#include "train/answer_detail.h"
#include "train/loss_head.h"

namespace mneme::train {
namespace {

constexpr std::int64_t kTokensPerTick = 1024;
// Hidden states that the head reads at a time.
constexpr std::size_t kHeadRows = 512;

// Some examples side by side. Nothing of them is copied: a token is 12 bytes.
struct Sequences {
  std::int64_t length, count;
  torch::Tensor tokens;  // [B, L] int32
  std::vector<std::int32_t> labels, predictions;

  Sequences(const tasks::ExampleSource& source, std::int64_t L, std::int64_t first, std::int64_t B)
      : length(L),
        count(B),
        tokens(torch::empty({B, L}, torch::kInt32)),
        labels(static_cast<std::size_t>(B * L)),
        predictions(labels.size(), tasks::kUnlabelled) {
    for (std::int64_t b = 0; b < B; ++b)
      source.write(static_cast<std::uint64_t>(first + b),
                   {.tokens = tokens_of(b), .labels = of(labels, b), .signal = {}, .targets = {}});
  }

  std::size_t place(std::int64_t b, std::int64_t t) const { return static_cast<std::size_t>(b * length + t); }
  std::span<std::int32_t> tokens_of(std::int64_t b) {
    return {tokens.data_ptr<std::int32_t>() + place(b, 0), static_cast<std::size_t>(length)};
  }
  std::span<std::int32_t> of(std::vector<std::int32_t>& all, std::int64_t b) const {
    return {all.data() + place(b, 0), static_cast<std::size_t>(length)};
  }
};

// Collects hidden states at labelled positions and reads them out when there are enough.
class Reader {
 public:
  Reader(models::SequenceModel& model, Sequences& batch) : model_(model), batch_(batch) {}

  // The hidden states [B, D] of time t.
  void see(std::int64_t t, const torch::Tensor& hidden) {
    const torch::Tensor h = hidden.contiguous();
    const auto D = static_cast<std::size_t>(h.size(1));
    for (std::int64_t b = 0; b < batch_.count; ++b) {
      const std::size_t at = batch_.place(b, t);
      if (batch_.labels[at] == tasks::kUnlabelled) continue;
      const float* row = h.data_ptr<float>() + static_cast<std::size_t>(b) * D;
      hidden_.insert(hidden_.end(), row, row + D);
      places_.push_back(at);
      answers_.push_back(batch_.labels[at]);
    }
    if (places_.size() >= kHeadRows) flush();
  }

  void flush() {
    if (places_.empty()) return;
    const auto R = static_cast<std::int64_t>(places_.size());
    const torch::Tensor rows = torch::from_blob(hidden_.data(), {R, static_cast<std::int64_t>(hidden_.size()) / R});
    const HeadResult result = evaluate_head(rows, model_.output_matrix(), model_.output_bias(), answers_);
    loss += result.loss_sum;
    for (std::size_t i = 0; i < places_.size(); ++i) batch_.predictions[places_[i]] = result.predictions[i];
    hidden_.clear();
    places_.clear();
    answers_.clear();
  }

  double loss = 0;

 private:
  models::SequenceModel& model_;
  Sequences& batch_;
  std::vector<float> hidden_;  // [labelled positions so far, D]
  std::vector<std::size_t> places_;
  std::vector<std::int32_t> answers_;
};

struct Tally {
  std::int64_t labelled = 0, correct = 0, exact = 0;

  void add(std::span<const std::int32_t> labels, std::span<const std::int32_t> predicted) {
    bool all = true;
    for (std::size_t t = 0; t < labels.size(); ++t) {
      if (labels[t] == tasks::kUnlabelled) continue;
      const bool right = labels[t] == predicted[t];
      ++labelled;
      correct += right;
      all = all && right;
    }
    exact += all;
  }
};

}  // namespace

Scores evaluate_streamed(const config::RunConfig& run, const tasks::Task& task, models::SequenceModel& model,
                         tasks::Split split, std::int64_t examples, const EvaluationTick& tick, Depth depth) {
  const torch::NoGradGuard guard;
  const tasks::ExampleSource source(task, static_cast<std::uint64_t>(run.train.integer("data_seed")), split);
  const std::int64_t L = run.shape.length, most = run.train.integer("micro_batch");
  AnswerDetail detail(run, task);
  Tally tally;
  double loss = 0;
  for (std::int64_t first = 0; first < examples; first += most) {
    Sequences batch(source, L, first, std::min(most, examples - first));
    Reader reader(model, batch);
    models::ModelState state = model.initial_state(batch.count);
    for (std::int64_t t = 0; t < L; ++t) {
      reader.see(t, model.step(state, batch.tokens.select(1, t).contiguous()));
      if (t % kTokensPerTick == 0) tick();
    }
    reader.flush();
    loss += reader.loss;
    for (std::int64_t b = 0; b < batch.count; ++b) {
      const auto labels = batch.of(batch.labels, b), predicted = batch.of(batch.predictions, b);
      tally.add(labels, predicted);
      if (depth == Depth::detail) detail.add(batch.tokens_of(b), labels, predicted);
    }
  }
  const auto count = static_cast<double>(std::max<std::int64_t>(tally.labelled, 1));
  return {loss / count,
          static_cast<double>(tally.correct) / count,
          static_cast<double>(tally.exact) / static_cast<double>(examples),
          {},
          depth == Depth::detail ? detail.json() : Json::object()};
}

torch::Tensor streamed_signal(models::SequenceModel& model, const torch::Tensor& input, const EvaluationTick& tick) {
  const torch::Tensor by_time = input.t().contiguous(), raw = torch::empty_like(by_time);  // [L, B]
  models::ModelState state = model.initial_state(input.size(0));
  for (std::int64_t t = 0; t < by_time.size(0); ++t) {
    raw.select(0, t).copy_(model.read_out(model.step(state, by_time.select(0, t))));
    if (t % kTokensPerTick == 0) tick();
  }
  return raw.t();
}

}  // namespace mneme::train
