// Every mixer learns: two layers of it, an easy recall task, a few seconds.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "catalog/mixer_entry.h"
#include "support/temporary_directory.h"
#include "train/trainer.h"

namespace mneme::train {
namespace {

struct Silent : TrainObserver {
  void on_step(const Progress&) override {}
  void on_metric(std::int64_t, const Json&) override {}
  bool wants_checkpoint() override { return false; }
  void on_checkpoint(std::int64_t, double) override {}
  bool wants_stop() override { return false; }
};

// One pair and one question among eight tokens, eight values: chance is 1/8.
constexpr const char* kSetting =
    "[task]\nname = \"mqar\"\nlength = 8\npairs = 1\nvocab = 16\n"
    "[model]\nmixer = \"{}\"\nwidth = 32\ninit = \"torch\"\n"
    "[train]\nbatch = 64\nsteps = 200\nlr = 3e-3\neval_every = 50\nstop_at = 0.9\neval_examples = 200\ntest_examples = "
    "500\n";
constexpr double kChance = 1.0 / 8, kLearned = 4 * kChance;

class EveryMixerLearns : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryMixerLearns, OnePair) {
  const testing::TemporaryDirectory directory;
  Silent observer;
  const config::RunConfig run =
      config::resolve_run(parse_toml(fmt::format(fmt::runtime(kSetting), GetParam()), "test"));
  const TrainResult result = Trainer(run).train(directory / "checkpoint", observer);
  const double accuracy = result.values.at("test").at("accuracy");
  RecordProperty("accuracy", fmt::format("{:.3f}", accuracy));
  EXPECT_GE(accuracy, kLearned) << result.values.dump();
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const catalog::MixerEntry& entry : catalog::mixer_catalog()) result.push_back(entry.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(List, EveryMixerLearns, ::testing::ValuesIn(names()),
                         [](const auto& mixer) { return mixer.param; });

TEST(Learning, AMixerThatIsNotTrainedStaysAtChance) {
  const testing::TemporaryDirectory directory;
  Silent observer;
  ConfigValue config = parse_toml(fmt::format(fmt::runtime(kSetting), "attention"), "test");
  apply_override(config, "train.lr=1e-12");
  const config::RunConfig run = config::resolve_run(config);
  const TrainResult result = Trainer(run).train(directory / "checkpoint", observer);
  EXPECT_LT(result.values.at("test").at("accuracy").get<double>(), 2 * kChance);
}

}  // namespace
}  // namespace mneme::train
