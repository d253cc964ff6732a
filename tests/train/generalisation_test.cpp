#include "train/generalisation.h"

#include <gtest/gtest.h>

#include "support/temporary_directory.h"
#include "train/trainer.h"

namespace mneme::train {
namespace {

config::RunConfig run_from(const std::string& toml) { return config::resolve_run(parse_toml(toml, "test")); }

const std::string kSmall =
    "[task]\nname = 'state_tracking'\ngroup = 'Z2'\nlength = 6\n[model]\nmixer = 'rnn'\nblock = 'plain'\nwidth = 16\n"
    "layers = 1\n[train]\nbatch = 32\nsteps = 200\nlr = 1e-2\neval_examples = 64\ntest_examples = 100\n";

struct Silent : TrainObserver {
  int evaluating = 0, leave_after = -1;
  void on_step(const Progress&) override {}
  void on_metric(std::int64_t, const Json&) override { evaluating = 0; }
  void on_evaluating() override { ++evaluating; }
  bool wants_checkpoint() override { return false; }
  void on_checkpoint(std::int64_t, double) override {}
  bool wants_stop() override { return evaluating == leave_after; }
};

// The axis at the length of training is the test split itself; beyond it, other examples.
TEST(Generalisation, StartsFromTheTestSplit) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = run_from(kSmall + "[test]\nalong = 'length'\nvalues = [6, 40]\nexamples = 100\n");
  Silent silent;
  const Json values = Trainer(run).train(directory / "c", silent).values;
  ASSERT_EQ(values["generalisation"]["axis"], "length");
  const Json& points = values["generalisation"]["points"];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0]["value"], 6);
  EXPECT_EQ(points[0]["accuracy"], values["test"]["accuracy"]);
  EXPECT_EQ(points[0]["exact_match"], values["test"]["exact_match"]);
  EXPECT_EQ(points[1]["value"], 40);
  // Parity over six bits is learned; over forty it is harder.
  EXPECT_GT(points[0]["exact_match"], 0.8);
  EXPECT_LT(points[1]["exact_match"], points[0]["exact_match"]);
  EXPECT_FALSE(Trainer(run_from(kSmall)).train(directory / "d", silent).values.contains("generalisation"));
}

TEST(Generalisation, WhoeverLeavesMeanwhileComesBackToTheSameResult) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = run_from(kSmall + "[test]\nalong = 'length'\nvalues = [6, 9, 12]\nexamples = 300\n");
  Silent whole, leaving;
  const TrainResult expected = Trainer(run).train(directory / "whole", whole);
  ASSERT_EQ(expected.outcome, Outcome::done);
  ASSERT_GT(whole.evaluating, 4);
  leaving.leave_after = whole.evaluating - 1;
  EXPECT_EQ(Trainer(run).train(directory / "cut", leaving).outcome, Outcome::interrupted);
  Trainer again(run);
  again.restore(directory / "cut");
  EXPECT_EQ(again.position(), 200);
  EXPECT_EQ(again.train(directory / "cut", whole).values.dump(), expected.values.dump());
}

// An input-dependent product of matrices overflows on long sequences: that is a result.
TEST(Generalisation, AnOverflowIsALossThatIsNull) {
  const config::RunConfig run = run_from(
      "[task]\nname = 'state_tracking'\nlength = 4\n[model]\nmixer = 'ids4'\nblock = 'postnorm'\nwidth = 256\nlayers = "
      "1\n"
      "ids4 = { d_state = 16 }\n[test]\nalong = 'length'\nvalues = [4, 400]\nexamples = 4\n");
  const Json points = generalisation(run, Trainer(run).model(), [] {})["points"];
  EXPECT_TRUE(points[0]["loss"].is_number());
  EXPECT_TRUE(points[1]["loss"].is_null());
  EXPECT_TRUE(points[1]["accuracy"].is_number());
}

TEST(Generalisation, StopsOnTheScoreThatIsNamed) {
  const testing::TemporaryDirectory directory;
  Silent silent;
  const auto stopped_at = [&](const std::string& score) {
    const TrainResult result = Trainer(run_from(kSmall + "stop_at = 0.85\neval_every = 5\nstop_on = '" + score + "'\n"))
                                   .train(directory / "c", silent);
    EXPECT_EQ(result.reason, "threshold");
    EXPECT_GE(result.values["validation"][score], 0.85);
    return result.values["step"].get<int>();
  };
  EXPECT_LT(stopped_at("accuracy"), stopped_at("exact_match"));
}

}  // namespace
}  // namespace mneme::train
