#include "study/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/error.h"

namespace mneme::study {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTiny = R"(
task.length = 8
task.pairs = 1
task.vocab = 16
)";

Grid grid(const std::string& text) { return Grid(parse_toml(kTiny + text, "study.toml")); }

std::string message(const std::string& text) {
  try {
    grid(text).runs();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(Grid, WithoutAxesIsOneRun) {
  const Grid one = grid("train.lr = 1e-2");
  EXPECT_EQ(one.size(), 1);
  EXPECT_EQ(one.runs().at(0).id, config::resolve_run(parse_toml(std::string(kTiny) + "train.lr = 1e-2", "x")).id);
}

TEST(Grid, HasEveryCombinationInAFixedOrder) {
  const Grid six = grid("train.seed = [1, 2]\nmodel.width = [8, 16, 24]");
  ASSERT_EQ(six.size(), 6);
  EXPECT_EQ(six.describe(0), "model.width = 8, train.seed = 1");
  EXPECT_EQ(six.describe(1), "model.width = 8, train.seed = 2");
  EXPECT_EQ(six.describe(5), "model.width = 24, train.seed = 2");
  std::set<std::string> ids;
  const auto runs = six.runs();
  for (const config::RunConfig& run : runs) ids.insert(run.id);
  EXPECT_EQ(ids.size(), 6u);
  EXPECT_EQ(runs[3].model.integer("width"), 16);
  EXPECT_EQ(runs[3].train.integer("seed"), 2);
}

TEST(Grid, TheOrderDoesNotDependOnHowTheFileIsWritten) {
  const auto a = grid("[train]\nlr = [1e-3, 1e-2]\nseed = [1, 2]\n[model]\nwidth = 8").runs();
  const auto b = grid("[model]\nwidth = 8\n[train]\nseed = [1, 2]\nlr = \"logspace(1e-3, 1e-2, 2)\"").runs();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].id, b[i].id);
}

TEST(Grid, OptionsOfAMixerCanBeAnAxis) {
  EXPECT_EQ(grid("model.width = 8\nmodel.attention.num_heads = [1, 2, 4]")
                .runs()
                .at(2)
                .json()["model"]["attention"]["num_heads"],
            4);
}

TEST(Grid, ABadAxisIsNamedWithItsPlace) {
  EXPECT_EQ(message("train.seed = []"), "[study.toml:5:7] train.seed: an empty list, expected at least one value");
  EXPECT_EQ(
      message("train.seed = [1, 2, 1]"),
      "[study.toml:5:21] train.seed: 1 is in its list twice (first at study.toml:5:15), expected different values");
  EXPECT_THAT(message("train.lr = \"logspace(0, 1, 3)\""), HasSubstr("[study.toml:5:7] logspace"));
  EXPECT_THAT(message("train.lr = [1e-3, \"fast\"]"),
              HasSubstr("[study.toml:5:19] train.lr: got \"fast\", expected a number"));
  EXPECT_THAT(message("train.lrr = [1, 2]"), HasSubstr("unknown key 'lrr', did you mean 'lr'?"));
}

TEST(Grid, AnImpossibleCombinationIsNamed) {
  const std::string text = message("train.seed = [1, 2]\nmodel.width = [8, 9]\nmodel.attention.num_heads = 2");
  EXPECT_THAT(text, HasSubstr("[study.toml:7:17] model.attention.num_heads: got 2, expected a divisor of the width 9"));
  EXPECT_THAT(text, HasSubstr("(in the run with model.width = 9, train.seed = 1)"));
}

TEST(Grid, TwoPointsThatAreOneRunAreNamed) {
  const std::string text = message("model.positions = [\"auto\", \"learned\"]");
  EXPECT_THAT(text, HasSubstr("[study.toml:5:20 and study.toml:5:28] two points of the grid are the same run"));
  EXPECT_THAT(text, HasSubstr("model.positions = \"auto\" and model.positions = \"learned\""));
}

TEST(Grid, OptionsOfAMixerVaryOnlyWhereItIsUsed) {
  const auto runs = grid(
                        "model.mixer = [\"ema\", \"attention\"]\nmodel.width = 8\nmodel.attention.num_heads = [1, 2, 4]"
                        "\nmodel.ema.decay = [0.5, 0.9]\ntrain.seed = [1, 2]")
                        .runs();
  std::map<std::string, int> count;
  std::set<std::string> ids;
  for (const config::RunConfig& run : runs) {
    ++count[run.mixers.front().entry->name];
    ids.insert(run.id);
  }
  EXPECT_EQ(count["attention"], 6);
  EXPECT_EQ(count["ema"], 4);
  EXPECT_EQ(ids.size(), runs.size());
  // Where no run has the mixer, its option is a mistake.
  EXPECT_THAT(message("model.mixer = [\"attention\", \"gru\"]\nmodel.ema.decay = [0.5, 0.9]"),
              HasSubstr("[study.toml:6:20 and study.toml:6:25] two points of the grid are the same run"));
}

TEST(Grid, AHugeGridIsRefusedBeforeItIsMade) {
  EXPECT_EQ(message("train.seed = \"range(0, 100000, 1)\"\ntrain.lr = \"logspace(1e-6, 1, 10000)\""),
            "[study.toml:6:7] a grid of 1e+09 runs (10,000 train.lr x 100,000 train.seed), expected at most 1,000,000");
}

TEST(Grid, AFieldThatTakesAListIsAnAxisOnlyWithListsInside) {
  for (const tasks::TaskEntry& task : tasks::task_list())
    for (const Field& field : task.options)
      if (field.type == FieldType::integers) {
        const std::string key = "task.name = \"" + task.name + "\"\ntask." + field.name;
        EXPECT_EQ(Grid(parse_toml(key + " = [3, 4]", "x")).size(), 1) << key;
        EXPECT_EQ(Grid(parse_toml(key + " = [[3, 4], [5]]", "x")).size(), 2) << key;
      }
}

}  // namespace
}  // namespace mneme::study
