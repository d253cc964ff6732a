// Models set by hand do what they are made for: what is measured on them elsewhere is then known.
#include "support/hand_set_models.h"

#include <gtest/gtest.h>

#include "tasks/task.h"

namespace mneme::models {
namespace {

using namespace testing;

// The least probability of an answer over these examples of the test split.
double least_probability(HandSetModel& set, std::uint64_t examples) {
  const torch::NoGradGuard guard;
  const auto task = set.run.task_entry->build(set.run.task);
  const tasks::ExampleSource source(*task, 1, tasks::Split::test);
  const tasks::TaskShape shape = task->shape();
  double least = 1;
  for (std::uint64_t i = 0; i < examples; ++i) {
    tasks::Example example(shape);
    source.write(i, example.view());
    nn::Pass pass = nn::Pass::evaluation();
    const torch::Tensor p = torch::softmax(
        set.model->logits(torch::tensor(example.tokens, torch::kInt32).unsqueeze(0), pass)[0], 1);  // [L, classes]
    for (std::int64_t t = 0; t < shape.length; ++t)
      if (const std::int32_t label = example.labels[static_cast<std::size_t>(t)]; label != tasks::kUnlabelled)
        least = std::min(least, p[t][label].item<double>());
  }
  return least;
}

TEST(HandSetModels, InductionAttentionSolvesMqar) {
  HandSetModel set = induction_attention();
  EXPECT_GT(least_probability(set, 50), 0.9999);
  // Without the first layer's copy of the token before, nothing is left of it.
  const torch::NoGradGuard guard;
  set.parameter("backbone.layers.0.sequence_mixer.Wqkv.weight").slice(0, 5 * 49).zero_();
  EXPECT_LT(least_probability(set, 50), 0.5);
}

TEST(HandSetModels, ShiftedLinearAttentionRecallsAsManyPairsAsItHasKeyChannels) {
  const torch::NoGradGuard guard;
  HandSetModel set = shifted_linear_attention(64, 16);
  // pairs (1, 32), (2, 33), ... and then key `asked`: the probability of its value.
  const auto recalled = [&](std::int64_t pairs, std::int64_t asked) {
    std::vector<std::int32_t> tokens;
    for (std::int64_t i = 0; i < pairs; ++i) {
      tokens.push_back(static_cast<std::int32_t>(1 + i));
      tokens.push_back(static_cast<std::int32_t>(32 + (7 * i + 3) % 32));
    }
    tokens.push_back(static_cast<std::int32_t>(1 + asked));
    nn::Pass pass = nn::Pass::evaluation();
    const torch::Tensor logits = set.model->logits(torch::tensor(tokens, torch::kInt32).unsqueeze(0), pass)[0];
    return torch::softmax(logits[2 * pairs], 0)[32 + (7 * asked + 3) % 32].item<double>();
  };
  for (std::int64_t pairs = 1; pairs <= 16; ++pairs)
    for (std::int64_t asked = 0; asked < pairs; ++asked)
      EXPECT_GT(recalled(pairs, asked), 0.9999) << pairs << " pairs, key " << asked;
  // The 17th key has the direction of the first: their values are superposed, the other fifteen are not touched.
  EXPECT_NEAR(recalled(17, 0), 0.5, 1e-3);
  EXPECT_NEAR(recalled(17, 16), 0.5, 1e-3);
  EXPECT_GT(recalled(17, 8), 0.9999);
}

TEST(HandSetModels, ParityDeltanetIsRightAtAnyLength) {
  const torch::NoGradGuard guard;
  HandSetModel set = parity_deltanet();
  torch::manual_seed(1);
  constexpr std::int64_t kLength = 20000;
  const torch::Tensor bits = torch::randint(0, 2, {2, kLength}, torch::kInt32);
  const torch::Tensor parity = bits.cumsum(1).remainder(2);
  nn::Pass pass = nn::Pass::evaluation();
  const torch::Tensor whole = set.model->logits(bits, pass);  // [2, L, 2]
  EXPECT_TRUE(torch::equal(whole.argmax(2), parity));
  EXPECT_GT(torch::softmax(whole, 2).gather(2, parity.unsqueeze(2)).min().item<double>(), 0.9999);
  ModelState state = set.model->initial_state(2);
  for (std::int64_t t = 0; t < kLength; ++t) {
    const torch::Tensor logits = set.model->read_out(set.model->step(state, bits.select(1, t)));
    ASSERT_TRUE(torch::equal(logits.argmax(1), parity.select(1, t))) << "bit " << t;
  }
}

}  // namespace
}  // namespace mneme::models
