#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "catalog/analyses.h"
#include "inspect/fit.h"
#include "inspect/inspect_testing.h"

namespace mneme::inspect {
namespace {

using testing::run_from;
using testing::set_parameter;

// One moving average between the embedding and the output: dL_t / dx_{t-l} is a^l times one vector.
TEST(GradientByLag, OfAMovingAverageFallsByItsDecay) {
  const config::RunConfig run = run_from(
      "[task]\nlength = 32\npairs = 4\nvocab = 64\n[model]\nmixer = 'ema'\nblock = 'plain'\nwidth = 16\nlayers = 1\n"
      "positions = 'none'\n");
  const Subject subject(run);
  const double a = 0.8;
  set_parameter(subject, "backbone.layers.0.sequence_mixer.decay",
                torch::tensor(std::log(a / (1 - a)), torch::kFloat64));
  const Json result = gradient_by_lag(subject, subject.examples(64));
  ASSERT_EQ(result["losses"], 256);
  const Json& fit = result["fit"];
  EXPECT_EQ(fit["better"], "exponential");
  EXPECT_NEAR(fit["exponential"]["half_life"].get<double>(), std::log(0.5) / std::log(a), 0.05);
  EXPECT_GT(fit["exponential"]["r2"], 0.99);

  // With one loss there is no average over positions: exactly proportional.
  const Examples one = subject.examples(1);
  Examples last = one;
  std::vector<std::int32_t>& labels = last.examples[0].labels;
  for (std::size_t t = 0; t + 1 < labels.size(); ++t) labels[t] = tasks::kUnlabelled;
  labels.back() = 3;
  const Json exact = gradient_by_lag(subject, last);
  ASSERT_EQ(exact["losses"], 1);
  ASSERT_EQ(exact["lags"].size(), 32U);
  const double newest = exact["lags"][0]["mean"];
  double worst = 0;
  for (const Json& lag : exact["lags"])
    worst = std::max(worst, std::abs(lag["mean"].get<double>() / newest - std::pow(a, lag["lag"].get<double>())));
  EXPECT_LT(worst, 1e-9);
  RecordProperty("worst", fmt::format("{:.2g}", worst));
  EXPECT_NEAR(exact["fit"]["exponential"]["factor"].get<double>(), a, 1e-9);
}

TEST(GradientByLag, OfASignalTaskIsTakenAtSpreadPositions) {
  const config::RunConfig run =
      run_from("[task]\nname = 'counting'\n[model]\nmixer = 'gru'\nblock = 'plain'\nwidth = 8\nlayers = 1\n");
  const Subject subject(run);
  const Json result = gradient_by_lag(subject, subject.examples(2));
  EXPECT_EQ(result["losses"], 32);
  EXPECT_EQ(result["lags"].size(), static_cast<std::size_t>(run.shape.length));
  EXPECT_TRUE(result["at_source"].is_null());
}

TEST(DecayFit, KnowsExponentialsAndPowerLaws) {
  std::vector<double> x, fast, slow, flat;
  for (int l = 1; l <= 40; ++l) {
    x.push_back(l);
    fast.push_back(3 * std::pow(0.9, l));
    slow.push_back(2 * std::pow(l, -1.5));
    flat.push_back(l % 2 == 0 ? 1.0 : 2.0);
  }
  EXPECT_EQ(decay_fit(x, fast)["better"], "exponential");
  EXPECT_NEAR(decay_fit(x, fast)["exponential"]["factor"].get<double>(), 0.9, 1e-12);
  EXPECT_EQ(decay_fit(x, slow)["better"], "power");
  EXPECT_NEAR(decay_fit(x, slow)["power"]["exponent"].get<double>(), -1.5, 1e-12);
  EXPECT_EQ(decay_fit(x, flat)["better"], "neither");
  EXPECT_TRUE(decay_fit({1, 2, 3}, {1, 1, 1}).is_null());
}

TEST(Analyses, EveryOneOfTheCatalogThatNeedsTheModelHasAFunction) {
  for (const catalog::AnalysisEntry& entry : catalog::analysis_catalog()) {
    if (entry.of_the_record) continue;
    EXPECT_NE(analysis_function(entry.name), nullptr) << entry.name;
  }
}

}  // namespace
}  // namespace mneme::inspect
