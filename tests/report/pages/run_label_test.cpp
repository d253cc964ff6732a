#include "report/pages/run_label.h"

#include <gtest/gtest.h>

#include "store/sample_lab.h"

namespace mneme::report {
namespace {

using testing::sample_run;

TEST(RunLabel, NamesMixerRateAndSeedAndWhatVaries) {
  const config::RunConfig run = sample_run({"train.lr=3e-3", "train.seed=7"});
  EXPECT_EQ(RunLabels().of(run), "attention, lr 3e-3, seed 7");
  const std::vector<study::Axis> axes{{"model.width", "", {}}, {"train.lr", "", {}}, {"model.glu.activation", "", {}}};
  EXPECT_EQ(RunLabels(axes).of(run), "attention, width 8, lr 3e-3, seed 7");
}

TEST(RunLabel, DescribesResults) {
  run::RunResult result{.state = store::RunState::done, .reason = "threshold", .summary = {}};
  result.summary = {
      {"values", {{"step", 1840}, {"validation", {{"accuracy", 0.992}}}, {"test", {{"accuracy", 0.991}}}}},
      {"times", {{"seconds", 14.2}}}};
  EXPECT_EQ(describe_result(result), "done (threshold) after 1,840 steps, validation 99.2 %, test 99.1 %, 14 s");
  EXPECT_EQ(describe_result({.state = store::RunState::failed, .reason = "no memory", .summary = {}}),
            "failed: no memory");
  result.summary["values"].erase("test");
  result.summary["values"]["validation"]["accuracy"] = nullptr;
  EXPECT_EQ(describe_result(result), "done (threshold) after 1,840 steps, validation -, 14 s");
}

}  // namespace
}  // namespace mneme::report
