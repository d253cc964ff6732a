#include "inspect/state_probes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "inspect/list.h"
#include "models/model_testing.h"
#include "support/hand_set_models.h"

namespace mneme::inspect {
namespace {

using namespace testing;

// Keys 1..n, values 32..39: of shifted_linear_attention().
PairTokens hand_set_tokens(std::int32_t keys) {
  PairTokens tokens;
  for (std::int32_t i = 0; i < keys; ++i) tokens.keys.push_back(1 + i);
  for (std::int32_t i = 0; i < 8; ++i) tokens.values.push_back(32 + i);
  return tokens;
}

TEST(StateProbes, OrthonormalKeysHoldAsManyPairsAsThereAreChannels) {
  HandSetModel set = shifted_linear_attention(64, 16);
  set.model->to(torch::kFloat64);
  const StateContents contents = state_contents(*set.model, hand_set_tokens(16), {1, 2, 4, 8, 16}, ProbeSplit());
  ASSERT_EQ(contents.held.size(), 5U);
  for (const HeldState& held : contents.held) {
    EXPECT_EQ(held.floats, 16 * 64);
    for (const double accuracy : held.accuracy) EXPECT_EQ(accuracy, 1.0) << held.pairs;
    EXPECT_NEAR(held.interference, 0, 1e-12);
    // Eight values a key differ in seven directions.
    EXPECT_LE(held.rank, 7 * static_cast<double>(held.pairs) + 1e-6);
    EXPECT_GT(held.rank, 6.5 * static_cast<double>(held.pairs));
  }
  for (const ReadBack& read : contents.read) EXPECT_EQ(read.accuracy, 1.0) << read.pairs;
}

TEST(StateProbes, MoreKeysThanChannelsInterfere) {
  HandSetModel set = shifted_linear_attention(64, 8);
  set.model->to(torch::kFloat64);
  const StateContents contents = state_contents(*set.model, hand_set_tokens(16), {8, 16}, ProbeSplit());
  ASSERT_EQ(contents.held.size(), 2U);
  for (const double accuracy : contents.held[0].accuracy) EXPECT_EQ(accuracy, 1.0);
  EXPECT_NEAR(contents.held[0].interference, 0, 1e-12);
  // Keys i and i + 8 are the same: 8 of the 120 pairs of keys overlap wholly, the others not at all. What is left of
  // their two values is their sum: a guess is right half of the time, and always where they are equal.
  EXPECT_NEAR(contents.held[1].interference, 8.0 / 120.0, 1e-9);
  for (const double accuracy : contents.held[1].accuracy) {
    EXPECT_GT(accuracy, 0.35);
    EXPECT_LT(accuracy, 0.75);
  }
  EXPECT_LT(contents.read[1].accuracy, 0.75);
}

// Three times the deviation of a mean of 16 pairs and 256 tests, were they independent, is 0.016.
TEST(StateProbes, ShuffledLabelsAreAtChance) {
  HandSetModel set = shifted_linear_attention(64, 16);
  set.model->to(torch::kFloat64);
  const StateContents contents = state_contents(*set.model, hand_set_tokens(16), {4, 16}, ProbeSplit());
  double worst = 0;
  for (const HeldState& held : contents.held) worst = std::max(worst, std::abs(held.shuffled - 1.0 / 8));
  EXPECT_LE(worst, 0.03);
  RecordProperty("worst", fmt::format("{:.2g}", worst));
}

TEST(StateProbes, ModelsThatWereNotTrainedReadNothing) {
  const auto run = run_from(
      "[task]\nname = 'mqar'\nlength = 16\npairs = 4\nvocab = 64\n[model]\nwidth = 32\nlayers = 1\nmixer = 'mamba'\n");
  const Subject subject(run);
  const Json result = state_probes(subject, subject.examples(4));
  ASSERT_TRUE(result.contains("read")) << result.dump();
  for (const Json& read : result["read"]) EXPECT_NEAR(read.at("accuracy").get<double>(), 0.125, 0.13) << read.dump();
  EXPECT_EQ(result.at("own_pairs"), 4);
  EXPECT_EQ(result.at("layers").size(), 1U);
  for (const Json& point : result["layers"][0]["curve"]) {
    EXPECT_EQ(point.at("floats"), 2 * 32 * 16);
    EXPECT_EQ(point.at("bits_by_pair").size(), point.at("pairs").get<std::size_t>());
  }
}

TEST(StateProbes, SayWhereThereIsNothingToLookAt) {
  for (const char* task : {"name = 'induction'\nlength = 32", "name = 'copying'", "name = 'counting'"}) {
    const auto run = run_from(fmt::format("[task]\n{}\n[model]\nwidth = 16\nmixer = 'gru'\n", task));
    const Subject subject(run);
    const Json result = state_probes(subject, subject.examples(2));
    ASSERT_TRUE(result.contains("skipped")) << task;
    EXPECT_THAT(result["skipped"].get<std::string>(), ::testing::HasSubstr("do not begin with pairs")) << task;
  }
}

// The state that the steps make is the sum that the scan computes: (key before) x (value) over all values.
TEST(State, BySteppingIsTheSumOfTheScan) {
  const torch::NoGradGuard guard;
  HandSetModel set = shifted_linear_attention(64, 16);
  set.model->to(torch::kFloat64);
  models::ModelState state = set.model->initial_state(1);
  torch::Tensor sum = torch::zeros({16, 64}, torch::kFloat64);
  const double unit = 10.0 / (1.0 + std::exp(-10.0));  // SiLU(10)
  for (std::int32_t i = 0; i < 12; ++i) {
    for (const std::int32_t token : {1 + i, 33 + 2 * i}) set.model->step(state, torch::tensor({token}, torch::kInt32));
    sum[i][33 + 2 * i] += unit * unit;
  }
  const double worst = (state.mixers[0].tensors[0][0][0] - sum).abs().max().item<double>();
  EXPECT_LE(worst, 1e-9);
  RecordProperty("worst", fmt::format("{:.2g}", worst));
}

// For every mixer: from the state that steps have made, the rest of a sequence comes out as from the whole. In float64;
// worst seen: 2.1e-15.
TEST(State, BySteppingGoesOnAsTheScanDoes) {
  const torch::NoGradGuard guard;
  double worst = 0;
  for (const catalog::MixerEntry& entry : catalog::mixer_catalog()) {
    const auto run = tiny_run("mixer = '" + entry.name + "'\nlayers = 2\n");
    const auto model = initialised_model(run);
    model->to(torch::kFloat64);
    torch::manual_seed(6);
    const torch::Tensor input = torch::randint(0, 16, {2, 8}, torch::kInt32), whole = hidden(*model, input);
    models::ModelState state = model->initial_state(2);
    for (std::int64_t t = 0; t < 5; ++t) model->step(state, input.select(1, t));
    const models::ModelState kept = state;
    for (std::int64_t t = 5; t < 8; ++t) {
      const double error = (model->step(state, input.select(1, t)) - whole.select(1, t)).abs().max().item<double>();
      worst = std::max(worst, error);
      EXPECT_LE(error, 1e-12) << entry.name;
    }
    EXPECT_EQ(kept.position, 5);
  }
  RecordProperty("worst", fmt::format("{:.2g}", worst));
}

TEST(Ridge, ReadsWhatIsThereAndNothingElse) {
  torch::manual_seed(2);
  const ProbeSplit split;
  const torch::Tensor labels = torch::randint(0, 8, {split.rows(), 3});
  const torch::Tensor map = torch::randn({16, 20}, torch::kFloat64);
  // Columns 0 and 1 are in x, column 2 is not.
  const torch::Tensor x = torch::matmul(torch::one_hot(labels.narrow(1, 0, 2), 8).flatten(1).to(torch::kFloat64), map) +
                          1e-3 * torch::randn({split.rows(), 20}, torch::kFloat64);
  const std::vector<double> accuracy = probe_accuracy(x, labels, 8, split);
  EXPECT_EQ(accuracy[0], 1.0);
  EXPECT_EQ(accuracy[1], 1.0);
  EXPECT_NEAR(accuracy[2], 0.125, 0.07);
  // States that say nothing at all.
  EXPECT_NEAR(probe_accuracy(torch::ones({split.rows(), 4}), labels, 8, split)[0], 0.125, 0.07);
}

TEST(Ridge, BitsRankAndOverlapOfKnownNumbers) {
  EXPECT_NEAR(bits_of_accuracy(1, 8), 3, 1e-12);
  EXPECT_EQ(bits_of_accuracy(0.125, 8), 0);
  EXPECT_EQ(bits_of_accuracy(0.05, 8), 0);
  EXPECT_NEAR(bits_of_accuracy(0.75, 2), 1 - 0.811278124459, 1e-9);  // a binary symmetric channel
  const torch::Tensor eye = torch::eye(4, torch::kFloat64);
  EXPECT_NEAR(effective_rank(torch::cat({eye, -eye})), 4, 1e-9);
  EXPECT_EQ(effective_rank(torch::ones({5, 3})), 0);
  EXPECT_NEAR(mean_overlap(eye), 0, 1e-12);
  EXPECT_NEAR(mean_overlap(torch::tensor({{1.0, 0.0}, {-2.0, 0.0}, {0.0, 0.0}})), 1, 1e-12);
}

}  // namespace
}  // namespace mneme::inspect
