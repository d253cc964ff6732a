// Positions that are added to the input.
#include "models/embedding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "models/model_testing.h"

namespace mneme::models {
namespace {

using namespace testing;
using torch::Tensor;

Embeddings embeddings(const std::string& positions) {
  return Embeddings({.vocab = 16, .width = 6, .positions = positions, .max_positions = 10, .max_shift = 30});
}

// What is added to each token: the embedding minus that of the bare table.
Tensor added(Embeddings& model, const Tensor& tokens, nn::Pass pass, std::int64_t start = 0) {
  const torch::NoGradGuard guard;
  return model.forward(tokens, pass, start) - torch::embedding(model.table(), tokens.to(torch::kInt64));
}

const Tensor kTokens = torch::tensor({{1, 2, 3, 4}, {5, 5, 5, 5}, {9, 8, 7, 6}}, torch::kInt32);

double code(std::int64_t t, std::int64_t c) {
  const double angle = static_cast<double>(t) * std::pow(10000.0, -static_cast<double>(c / 2 * 2) / 6.0);
  return c % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

TEST(Positions, SinusoidalCodesAreTheFormula) {
  Embeddings model = embeddings("sinusoidal");
  for (const std::int64_t start : {0, 1000000}) {
    const Tensor codes = added(model, kTokens, nn::Pass::training(1, 0, 0), start);
    for (std::int64_t b = 0; b < 3; ++b)
      for (std::int64_t t = 0; t < 4; ++t)
        for (std::int64_t c = 0; c < 6; ++c)
          EXPECT_NEAR(codes[b][t][c].item<double>(), code(start + t, c), 1e-6) << start << " " << t << " " << c;
  }
}

TEST(Positions, LearnedOnesAreATableWithAnEnd) {
  Embeddings model = embeddings("learned");
  const Tensor table = values_of(model).at("position_embeddings.weight");
  EXPECT_TRUE(torch::allclose(added(model, kTokens, nn::Pass::evaluation(), 6)[1], table.narrow(0, 6, 4), 1e-5, 1e-6));
  EXPECT_THROW(added(model, kTokens, nn::Pass::evaluation(), 7), Error);
}

TEST(Positions, RelativeOnesAreShiftedPerSequenceInTrainingAlone) {
  Embeddings model = embeddings("relative"), fixed = embeddings("sinusoidal");
  EXPECT_TRUE(torch::allclose(added(model, kTokens, nn::Pass::evaluation(), 3),
                              added(fixed, kTokens, nn::Pass::evaluation(), 3), 1e-5, 1e-6));

  std::set<std::int64_t> seen;
  for (std::uint64_t step = 0; step < 100; ++step) {
    const Tensor codes = added(model, kTokens, nn::Pass::training(1, step, 0));
    EXPECT_TRUE(torch::equal(codes, added(model, kTokens, nn::Pass::training(1, step, 0))));
    for (std::int64_t b = 0; b < 3; ++b) {
      // Some shift from 0 to 30 must explain all tokens of the sequence.
      std::int64_t shift = -1;
      for (std::int64_t s = 0; s <= 30; ++s)
        if (torch::allclose(codes[b], added(fixed, kTokens, nn::Pass::evaluation(), s)[b], 1e-5, 1e-5)) shift = s;
      ASSERT_GE(shift, 0);
      seen.insert(shift);
    }
  }
  EXPECT_EQ(seen.size(), 31U);  // 300 draws miss one of 31 values with a chance of 0.2 %; the seed is fixed
}

TEST(Positions, RopeGoesToTheMixersThatHaveItAndTurnsTheInputOfOthers) {
  const config::RunConfig run = tiny_run("mixer = 'attention+mamba'\npositions = 'rope'\n");
  EXPECT_TRUE(run.mixers[0].options.flag("rope"));
  EXPECT_FALSE(run.rotates_input(0));
  EXPECT_TRUE(run.rotates_input(1));
  EXPECT_FALSE(tiny_run("mixer = 'mamba'\npositions = 'sinusoidal'\n").rotates_input(0));
}

TEST(Positions, EveryKindLetsAttentionKnowOrder) {
  const torch::NoGradGuard guard;
  const Tensor tokens = torch::tensor({{1, 2, 3, 4, 5, 6, 7, 8}}, torch::kInt32);
  const Tensor swapped = torch::tensor({{3, 1, 2, 5, 4, 7, 6, 8}}, torch::kInt32);
  for (const std::string positions : kPositions)
    for (const std::string block : kBlocks) {
      const auto model = initialised_model(
          tiny_run("init = 'torch'\nlayers = 1\nblock = '" + block + "'\npositions = '" + positions + "'\n"));
      const double change = (hidden(*model, tokens) - hidden(*model, swapped)).select(1, 7).abs().max().item<double>();
      if (positions == "none")
        EXPECT_LT(change, 1e-5) << block;
      else
        EXPECT_GT(change, 1e-4) << block << " " << positions;
    }
}

}  // namespace
}  // namespace mneme::models
