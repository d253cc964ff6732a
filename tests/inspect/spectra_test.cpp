#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "inspect/inspect_testing.h"
#include "inspect/transitions.h"

namespace mneme::inspect {
namespace {

using testing::run_from;
using testing::set_parameter;
using torch::Tensor;

config::RunConfig one_layer(const std::string& model) {
  return run_from("[task]\nlength = 16\npairs = 2\nvocab = 32\n[model]\nwidth = 16\nlayers = 1\n" + model);
}

Tensor only_transition(const Subject& subject) {
  const std::vector<Transitions> found = transitions(subject, subject.examples(1).input, 64);
  EXPECT_EQ(found.size(), 1U);
  EXPECT_EQ(found.at(0).left_out, "");
  return found.at(0).A;
}

Tensor parameter(const Subject& subject, const std::string& name) {
  return subject.model().named_parameters()["backbone.layers.0.sequence_mixer." + name];
}

// I - beta k k^T with |k| = 1: one eigenvalue 1 - beta, all others 1.
TEST(Spectra, OfTheDeltaRuleHaveOneEigenvalueOneMinusBeta) {
  double worst = 0;
  for (const bool reflects : {false, true}) {
    const config::RunConfig run = one_layer(
        std::string("mixer = 'deltanet'\n[model.deltanet]\nuse_beta = false\nnum_heads = 1\nallow_neg_eigval = ") +
        (reflects ? "true\n" : "false\n"));
    const Subject subject(run);
    // Large keys, so that the eps of their norm does not matter.
    set_parameter(subject, "backbone.layers.0.sequence_mixer.k_proj.weight", 1e4 * parameter(subject, "k_proj.weight"));
    const Tensor A = only_transition(subject);
    ASSERT_EQ(A.size(2), 16);
    const Tensor values = torch::linalg_eigvals(A);  // [T, lanes, 16]
    EXPECT_LT(torch::imag(values).abs().max().item<double>(), 1e-6);
    const Tensor sorted = std::get<0>(torch::sort(torch::real(values), -1));
    worst = std::max(worst, (sorted.select(-1, 0) - (reflects ? -1.0 : 0.0)).abs().max().item<double>());
    EXPECT_LT((sorted.narrow(-1, 1, 15) - 1.0).abs().max().item<double>(), 1e-8);

    const Json result = spectra(subject, subject.examples(1))["mixers"][0];
    EXPECT_NEAR(result["below_zero"].get<double>(), reflects ? 1.0 / 16 : 0.0, 1e-12);
    EXPECT_NEAR(result["lasting"].get<double>(), reflects ? 1.0 : 15.0 / 16, 1e-12);
  }
  EXPECT_LT(worst, 1e-5);
  RecordProperty("worst", fmt::format("{:.2g}", worst));
}

// Appendix I of paper B, set by hand: a state that turns by 2 pi / n a step.
TEST(Spectra, FindTheSolutionForCountingInS4d) {
  const config::RunConfig run =
      run_from("[task]\nname = 'counting'\nisi = 5\n[model]\nmixer = 's4d'\nblock = 'plain'\nwidth = 4\nlayers = 1\n");
  const Subject subject(run);
  EXPECT_GT(spectra(subject, subject.examples(1))["mixers"][0]["counting"]["distance"], 1e-3);
  const std::string kernel = "backbone.layers.0.sequence_mixer.kernel.";
  set_parameter(subject, kernel + "log_dt", torch::zeros({1}));
  set_parameter(subject, kernel + "log_A_real", torch::full({1}, -40.0));
  set_parameter(subject, kernel + "A_imag", torch::full({1}, 2 * std::numbers::pi / 5, torch::kFloat64));
  const Json result = spectra(subject, subject.examples(1))["mixers"][0];
  EXPECT_EQ(result["counting"]["n"], 5);
  EXPECT_LT(result["counting"]["distance"], 1e-12);
  RecordProperty("worst", fmt::format("{:.2g}", result["counting"]["distance"].get<double>()));
  EXPECT_EQ(result["complex"], 1.0);
  EXPECT_EQ(result["lasting"], 1.0);
  EXPECT_EQ(result["depends_on_input"], false);
  EXPECT_NEAR(result["largest"].get<double>(), 1.0, 1e-12);
}

// One pole of 128 is enough: none is left out.
TEST(Spectra, FindASinglePoleThatCounts) {
  const config::RunConfig run =
      run_from("[task]\nname = 'counting'\nisi = 5\n[model]\nmixer = 's4d'\nblock = 'plain'\nwidth = 4\nlayers = 1\n");
  const Subject subject(run);
  const std::string kernel = "backbone.layers.0.sequence_mixer.kernel.";
  Tensor turns = torch::zeros({4, 32}, torch::kFloat64);
  turns[2][17] = 2 * std::numbers::pi / 5;
  set_parameter(subject, kernel + "log_dt", torch::zeros({1}));
  set_parameter(subject, kernel + "log_A_real", torch::full({1}, -40.0));
  set_parameter(subject, kernel + "A_imag", turns);
  const Json result = spectra(subject, subject.examples(1))["mixers"][0];
  EXPECT_EQ(result["lanes"], 128);
  EXPECT_LT(result["counting"]["distance"], 1e-12);
  EXPECT_NEAR(result["complex"].get<double>(), 1.0 / 128, 1e-12);
}

TEST(Spectra, OfRetNetAreItsDecaysTurnedByItsAngles) {
  const config::RunConfig run = one_layer("mixer = 'retnet'\n[model.retnet]\nnum_heads = 2\n");
  const Subject subject(run);
  const Tensor sizes = torch::linalg_eigvals(only_transition(subject)).abs();  // [T, lanes, dk]
  // Lanes are those of head 0, then those of head 1.
  EXPECT_LT((sizes.select(1, 0) - (1 - std::pow(2.0, -5))).abs().max().item<double>(), 1e-6);
  EXPECT_LT((sizes.select(1, 3) - (1 - std::pow(2.0, -6))).abs().max().item<double>(), 1e-6);
}

TEST(Spectra, OfRwkv4AreItsDecaysWhateverItsStateIsScaledBy) {
  const config::RunConfig run = one_layer("mixer = 'rwkv4'\n");
  const Subject subject(run);
  const Tensor A = only_transition(subject);  // [T, 16, 1, 1]
  ASSERT_GE(A.size(0), 14);
  const Tensor decay = torch::exp(-torch::exp(parameter(subject, "time_decay")));
  EXPECT_LT((A.flatten(1) - decay).abs().max().item<double>(), 1e-9);
}

TEST(Spectra, OfAnRnnAreThoseOfItsWeightsUnderItsSlope) {
  const config::RunConfig run = one_layer("mixer = 'rnn'\n");
  const Subject subject(run);
  const Tensor A = only_transition(subject);  // [T, 1, 16, 16]
  const Tensor W = parameter(subject, "weight_hh_l0");
  // dh_t / dh_{t-1} = diag(1 - h^2) W: rows are multiples of W's.
  const Tensor ratio = A.select(1, 0) / W;
  EXPECT_LT((ratio - ratio.select(-1, 0).unsqueeze(-1)).abs().max().item<double>(), 1e-9);
  EXPECT_LE(ratio.max().item<double>(), 1.0 + 1e-12);
  EXPECT_GT(ratio.min().item<double>(), 0.0);
}

TEST(Spectra, SayWhereThereIsNothingToSay) {
  const config::RunConfig run = one_layer("mixer = 'attention'\n");
  const Subject subject(run);
  const Json result = spectra(subject, subject.examples(1));
  EXPECT_EQ(result["skipped"], "attention: its state grows with the sequence: nothing is carried over");
}

}  // namespace
}  // namespace mneme::inspect
