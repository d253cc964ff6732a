#include "train/evaluation.h"

#include <algorithm>
#include <numeric>

#include "train/batch.h"

namespace mneme {

Json Scores::json() const { return {{"loss", loss}, {"accuracy", accuracy}, {"exact_match", exact_match}}; }

Scores evaluate(LanguageModel& model, const ExampleSource& source, const TaskShape& shape, std::int64_t examples,
                std::int64_t at_a_time, LossHead& head) {
  const torch::NoGradGuard guard;
  double loss = 0;
  std::int64_t asked = 0, correct = 0, exact = 0;
  for (std::int64_t first = 0; first < examples; first += at_a_time) {
    std::vector<std::uint64_t> indices(static_cast<std::size_t>(std::min(at_a_time, examples - first)));
    std::iota(indices.begin(), indices.end(), static_cast<std::uint64_t>(first));
    const Batch batch = make_batch(source, shape, indices);
    Pass pass = Pass::evaluation();
    const torch::Tensor hidden = model.hidden(batch.tokens, pass).flatten(0, 1);
    const torch::Tensor rows = hidden.index_select(0, torch::tensor(batch.asked));
    const HeadResult result = head.evaluate(rows, model.output_matrix(), batch.answers);

    loss += result.loss_sum;
    asked += static_cast<std::int64_t>(batch.answers.size());
    correct += result.correct;
    std::vector<char> all_right(indices.size(), 1);
    for (std::size_t i = 0; i < batch.answers.size(); ++i)
      if (result.predictions[i] != batch.answers[i]) all_right[static_cast<std::size_t>(batch.sequence[i])] = 0;
    exact += std::count(all_right.begin(), all_right.end(), 1);
  }
  const auto questions = static_cast<double>(std::max<std::int64_t>(asked, 1));
  return {loss / questions, static_cast<double>(correct) / questions,
          static_cast<double>(exact) / static_cast<double>(examples)};
}

}  // namespace mneme
