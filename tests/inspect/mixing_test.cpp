#include "inspect/mixing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "catalog/mixer_entry.h"
#include "inspect/inspect_testing.h"
#include "inspect/patterns.h"

namespace mneme::inspect {
namespace {

using testing::run_from;
using testing::set_parameter;

config::RunConfig small_run(const std::string& model) {
  return run_from("[task]\nlength = 16\npairs = 2\nvocab = 32\n[model]\nwidth = 16\nlayers = 2\n" + model);
}

std::vector<Mixing> matrices(const Subject& subject) { return mixing_matrices(subject, subject.examples(1).input); }

TEST(MixingMatrix, OfAMovingAverageIsItsFilter) {
  const config::RunConfig run = small_run("mixer = 'ema'\npositions = 'none'\n");
  const Subject subject(run);
  const double a = 0.7;
  for (const char* layer : {"0", "1"})
    set_parameter(subject, std::string("backbone.layers.") + layer + ".sequence_mixer.decay",
                  torch::tensor(std::log(a / (1 - a)), torch::kFloat64));
  const std::vector<Mixing> found = matrices(subject);
  ASSERT_EQ(found.size(), 2U);
  double worst = 0;
  for (const Mixing& mixing : found) {
    EXPECT_TRUE(mixing.linear);
    EXPECT_LT(mixing.error, 1e-12);
    for (std::int64_t t = 0; t < 16; ++t)
      for (std::int64_t s = 0; s < 16; ++s) {
        const double expected = s <= t ? (1 - a) * std::pow(a, t - s) : 0.0;
        EXPECT_NEAR(mixing.mean[0][t][s].item<double>(), expected, 1e-12);
        EXPECT_NEAR(mixing.size[0][t][s].item<double>(), expected, 1e-12);
        worst = std::max(worst, std::abs(mixing.mean[0][t][s].item<double>() - expected));
      }
  }
  RecordProperty("worst", fmt::format("{:.2g}", worst));
  EXPECT_EQ(found[1].layer, 1);
  EXPECT_EQ(found[1].module, "backbone.layers.1.sequence_mixer");
}

TEST(MixingMatrix, OfAttentionHasRowsThatSumToOne) {
  const config::RunConfig run = small_run("mixer = 'attention'\n[model.attention]\nnum_heads = 2\n");
  const Subject subject(run);
  for (const Mixing& mixing : matrices(subject)) {
    ASSERT_EQ(mixing.size.size(0), 2);
    EXPECT_LT((mixing.mean.sum(-1) - 1.0).abs().max().item<double>(), 1e-12);
    EXPECT_GE(mixing.mean.min().item<double>(), 0.0);
  }
}

// The delta rule removes what its key held: with one key for all tokens and beta = 1, only the newest value is left.
TEST(MixingMatrix, OfTheDeltaRuleHasTheRemovalOfKeys) {
  const config::RunConfig run =
      small_run("mixer = 'deltanet'\n[model.deltanet]\nuse_beta = false\nuse_short_conv = false\nnum_heads = 1\n");
  const Subject subject(run);
  // Every token has the same large key: SiLU of a weight that ignores its input's differences is not there, so the
  // norm before the mixer gives its bias to all.
  for (const char* layer : {"0", "1"}) {
    const std::string block = std::string("backbone.layers.") + layer;
    set_parameter(subject, block + ".norm1.weight", torch::zeros({1}));
    set_parameter(subject, block + ".norm1.bias", torch::full({1}, 100.0));
  }
  double worst = 0;
  for (const Mixing& mixing : matrices(subject)) {
    const torch::Tensor M = mixing.mean[0];
    const double newest = M.diagonal().abs().mean().item<double>();
    ASSERT_GT(newest, 1e-3);
    worst = std::max(worst, (M - torch::diag(M.diagonal())).abs().max().item<double>() / newest);
  }
  EXPECT_LT(worst, 1e-6);
  RecordProperty("worst", fmt::format("{:.2g}", worst));
}

TEST(MixingMatrix, WithItsConvolutionSeesEarlierTokens) {
  const config::RunConfig run = small_run(
      "mixer = 'attention'\npositions = 'none'\n[model.attention]\nconv_on = 'v'\nconv_kernel = 3\nconv_place = "
      "'post'\n");
  const Subject subject(run);
  const std::vector<Mixing> found = matrices(subject);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_FALSE(found[0].convolved);
  EXPECT_TRUE(found[1].convolved);
  // M C with the filter of each channel; here by hand for the first layer.
  const torch::Tensor weight = subject.model().named_parameters()["backbone.layers.0.sequence_mixer.conv_v.weight"];
  torch::Tensor expected = torch::zeros({16, 16}, torch::kFloat64);
  for (std::int64_t j = 0; j < 3; ++j) {
    const torch::Tensor shifted = torch::zeros({16, 16}, torch::kFloat64);
    for (std::int64_t s = 0; s + j < 16; ++s) shifted.select(1, s).copy_(found[0].mean[0].select(1, s + j));
    expected += shifted * weight.select(1, 0).select(1, 2 - j).mean();
  }
  const double worst = (found[1].mean[0] - expected).abs().max().item<double>();
  EXPECT_LT(worst, 1e-12);
  RecordProperty("worst", fmt::format("{:.2g}", worst));
}

// What `Subject` computes for a mixer of the catalog, by its name.
class EveryInspectedMixer : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> mixer_names() {
  std::vector<std::string> names;
  for (const catalog::MixerEntry& entry : catalog::mixer_catalog()) names.push_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Mixers, EveryInspectedMixer, ::testing::ValuesIn(mixer_names()),
                         [](const auto& mixer) { return mixer.param; });

TEST_P(EveryInspectedMixer, HasAnExactAndCausalMixingMatrix) {
  const config::RunConfig run = small_run("mixer = '" + GetParam() + "'\n");
  const Subject subject(run);
  const std::vector<Mixing> found = matrices(subject);
  ASSERT_GE(found.size(), 2U);
  const bool nonlinear = std::set<std::string>{"rnn", "lstm", "gru", "nru", "ids4"}.contains(GetParam());
  double worst = 0;
  for (const Mixing& mixing : found) {
    EXPECT_EQ(mixing.linear, !nonlinear);
    EXPECT_TRUE(mixing.size.isfinite().all().item<bool>());
    EXPECT_GT(mixing.size.sum().item<double>(), 0.0);
    EXPECT_LT(mixing.size.triu(1).max().item<double>(), 1e-12 * mixing.size.max().item<double>());
    worst = std::max(worst, mixing.error);
  }
  // Measured worst over the zoo: see docs/inspect.md.
  EXPECT_LT(worst, 1e-5);
  RecordProperty("worst", fmt::format("{:.2g}", worst));
}

TEST_P(EveryInspectedMixer, HasAGradientByLag) {
  const config::RunConfig run = small_run("mixer = '" + GetParam() + "'\n");
  const Subject subject(run);
  const Json result = gradient_by_lag(subject, subject.examples(2));
  ASSERT_EQ(result["losses"], 4);
  EXPECT_GT(result["lags"].size(), 8U);
  for (const Json& lag : result["lags"]) EXPECT_TRUE(std::isfinite(lag["mean"].get<double>())) << lag.dump();
  EXPECT_GT(result["lags"][0]["mean"], 0.0);
  EXPECT_TRUE(result["at_source"].is_number());
}

}  // namespace
}  // namespace mneme::inspect
