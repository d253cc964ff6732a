#include "train/signals.h"

#include <gtest/gtest.h>

#include "support/temporary_directory.h"
#include "train/trainer.h"

namespace mneme::train {
namespace {

config::RunConfig counting(const std::string& extra) {
  return config::resolve_run(parse_toml(
      "[task]\nname = 'counting'\nlength = 60\nisi = 4\niti = [6, 9]\n[model]\nmixer = 'gru'\nblock = 'plain'\n"
      "embed_width = 1\nwidth = 16\nlayers = 1\n[train]\nbatch = 32\nlr = 1e-2\neval_examples = 32\ntest_examples = "
      "32\n" +
          extra,
      "test"));
}

struct Silent : TrainObserver {
  void on_step(const Progress&) override {}
  void on_metric(std::int64_t, const Json&) override {}
  bool wants_checkpoint() override { return false; }
  void on_checkpoint(std::int64_t, double) override {}
  bool wants_stop() override { return false; }
};

TEST(Signals, WhoHasLearnedToCountPassesAndWhoHasNotDoesNot) {
  const testing::TemporaryDirectory directory;
  Silent silent;
  const auto phases = [&](const char* steps) {
    const config::RunConfig run = counting("steps = " + std::string(steps) + "\n[test]\nphases = true\n");
    return Trainer(run).train(directory / "c", silent).values["phases"];
  };
  const Json trained = phases("600"), fresh = phases("1");
  EXPECT_GT(trained["offset"], 0.95);
  EXPECT_EQ(trained["offset_passed"], true);
  EXPECT_EQ(trained["two_isi"], true);
  EXPECT_EQ(fresh["offset_passed"], false);
  EXPECT_EQ(fresh["two_isi"], false);
  for (const char* name : {"double_isi", "double_isi_gap_1"}) EXPECT_TRUE(trained[name].is_boolean()) << name;
}

TEST(Signals, TracesHoldExamplesAndThePhaseTests) {
  const testing::TemporaryDirectory directory;
  Silent silent;
  const config::RunConfig run = counting("steps = 1\n[test]\nphases = true\ntraces = 2\n");
  const TrainResult result = Trainer(run).train(directory / "c", silent);
  const Json& signals = result.traces["signals"];
  ASSERT_EQ(signals.size(), 5U);
  EXPECT_EQ(signals[0]["name"], "test 0");
  EXPECT_EQ(signals[2]["name"], "two_isi");
  EXPECT_NE(signals[0]["input"], signals[1]["input"]);
  for (const Json& signal : signals) {
    ASSERT_EQ(signal["input"].size(), signal["output"].size());
    for (std::size_t t = 0; t + 1 < signal["input"].size(); ++t) EXPECT_EQ(signal["target"][t], signal["input"][t + 1]);
    for (const Json& output : signal["output"]) {
      EXPECT_GE(output, 0.0);
      EXPECT_LE(output, 1.0);
    }
  }
  EXPECT_TRUE(Trainer(counting("steps = 1\n")).train(directory / "d", silent).traces.is_null());
}

}  // namespace
}  // namespace mneme::train
