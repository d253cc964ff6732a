#include "study/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/error.h"
#include "support/temporary_directory.h"

namespace mneme::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kStudy = R"toml(title = "Windows"
[task]
name = "mqar"
length = 64
pairs = 4
vocab = 8192
[model]
width = 64
[train]
lr = "logspace(1e-4, 1e-1, 13)"
seed = [42, 123]
[scale.laptop]
task = { length = 32, vocab = 64 }
train = { lr = "logspace(1e-4, 1e-1, 7)" }
[scale.smoke]
task = { length = 8, pairs = 1, vocab = 16 }
train = { lr = 1e-3, seed = [42], steps = 5 }
[figure]
threshold = 0.8
)toml";

Study parse(const std::string& scale, std::vector<std::string> overrides = {}) {
  return parse_study(kStudy, "windows.toml", {scale, std::move(overrides)});
}

std::string message(const std::string& text, const StudyOptions& options = {}) {
  try {
    parse_study(text, "windows.toml", options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(Study, AScaleIsLaidOverTheFile) {
  const Study laptop = parse("laptop");
  EXPECT_EQ(laptop.name, "windows");
  EXPECT_EQ(laptop.title, "Windows");
  EXPECT_EQ(laptop.scale, "laptop");
  EXPECT_THAT(laptop.scales, ElementsAre("laptop", "smoke"));
  ASSERT_EQ(laptop.runs.size(), 14u);
  EXPECT_EQ(laptop.runs[0].task.integer("length"), 32);
  EXPECT_EQ(laptop.runs[0].task.integer("pairs"), 4);
  ASSERT_EQ(laptop.figures.size(), 1u);
  EXPECT_EQ(config_to_json(laptop.figures[0]), Json({{"threshold", 0.8}}));
  EXPECT_EQ(parse("smoke").runs.size(), 1u);
}

TEST(Study, TheDefaultScaleIsTheLaptopsIfThereIsOne) {
  EXPECT_EQ(parse("").scale, "laptop");
  EXPECT_EQ(parse("none").scale, "");
  EXPECT_EQ(parse("none").runs.size(), 26u);
  EXPECT_EQ(parse_study("train.lr = [1e-3, 1e-2]", "plain.toml").scale, "");
}

TEST(Study, OverridesComeLast) {
  const Study study = parse("laptop", {"train.lr=[1e-3, 2e-3]", "train.seed=\"range(0, 3, 1)\""});
  EXPECT_EQ(study.runs.size(), 6u);
  ASSERT_EQ(study.axes.size(), 2u);
  EXPECT_EQ(study.axes[0].path, "train.lr");
}

TEST(Study, MistakesAreNamedWithTheirPlace) {
  EXPECT_EQ(message("titel = \"x\""), "[windows.toml:1:1] study: unknown key 'titel', did you mean 'title'?");
  EXPECT_EQ(message("title = 3"), "[windows.toml:1:1] title: got 3, expected a string");
  EXPECT_THAT(message("[scale.big]\ntasks = {}"),
              HasSubstr("[windows.toml:2:1] scale.big: unknown key 'tasks', did you mean 'task'?"));
  EXPECT_THAT(message("scale = 3"), HasSubstr("scale: got 3, expected tables [scale.NAME]"));
  EXPECT_THAT(message("task = 3"), HasSubstr("expected a table"));
  EXPECT_THAT(message("a = ["), HasSubstr("not valid TOML"));
  EXPECT_EQ(message(kStudy, {"lapto", {}}), "[windows.toml] unknown scale 'lapto', did you mean 'laptop'?");
  EXPECT_EQ(message("title = \"x\"", {"laptop", {}}), "[windows.toml] unknown scale 'laptop'; this study has none");
}

std::vector<std::string> cells(const std::string& text) {
  std::vector<std::string> found;
  const Study study = parse_study(text, "windows.toml");
  for (const config::RunConfig& run : study.runs)
    found.push_back(run.model.text("mixer") + " " + Json(run.train.real("lr")).dump() + " " +
                    std::to_string(run.task.integer("length")));
  return found;
}

const std::string kAxes =
    "[task]\nlength = [32, 64]\nvocab = 128\n[model]\nmixer = [\"attention\", \"rnn\"]\n[train]\nlr = [0.1, 0.2]\n";

TEST(Study, ExcludeTakesPointsOut) {
  EXPECT_EQ(cells(kAxes).size(), 8u);
  EXPECT_THAT(
      cells(kAxes + "[[exclude]]\nmodel.mixer = \"rnn\"\ntrain.lr = \"> 0.15\"\n[[exclude]]\ntask.length = [64]\n"),
      ElementsAre("attention 0.1 32", "attention 0.2 32", "rnn 0.1 32"));
  // On a field that has its default, and on one that only some runs have.
  EXPECT_EQ(cells(kAxes + "[[exclude]]\ntrain.batch = 64\ntrain.lr = 0.1\n").size(), 4u);
  EXPECT_EQ(cells(kAxes + "[[exclude]]\nmodel.attention.num_heads = \">= 1\"\n").size(), 4u);
}

// It took a field for unknown that no point reached, because an earlier condition of the rule had failed for all of
// them.
TEST(Study, ARuleThatFitsNoPointOfAScaleIsNoError) {
  const std::string rule = "[[exclude]]\nmodel.mixer = \"rnn\"\ntrain.batch = 512\ntrain.lr = \"> 0.15\"\n";
  EXPECT_EQ(cells("[train]\nbatch = 64\nlr = [0.1, 0.2]\n[model]\nmixer = [\"attention\", \"rnn\"]\n" + rule).size(),
            4u);
}

TEST(Study, WhatCannotWorkMayBeExcluded) {
  const std::string impossible = "[task]\nlength = [8, 64]\npairs = [2, 16]\nvocab = 128\n";
  EXPECT_THAT(message(impossible), HasSubstr("[windows.toml:3"));
  EXPECT_EQ(parse_study(impossible + "[[exclude]]\ntask.length = 8\ntask.pairs = 16\n", "windows.toml").runs.size(),
            3u);
}

TEST(Study, IncludeAddsAGridThatRulesDoNotTouch) {
  const std::string text =
      kAxes + "[[exclude]]\nmodel.mixer = \"rnn\"\n[[include]]\nmodel = { mixer = \"rnn\" }\ntrain = { lr = 0.3 }\n";
  EXPECT_THAT(cells(text), ElementsAre("attention 0.1 32", "attention 0.2 32", "attention 0.1 64", "attention 0.2 64",
                                       "rnn 0.3 32", "rnn 0.3 64"));
  // What is there already is there once.
  EXPECT_EQ(cells(kAxes + "[[include]]\ntrain = { lr = 0.1 }\n").size(), 8u);
}

TEST(Study, ZippedAxesVaryTogether) {
  const std::string zip = "zip = [[\"task.length\", \"train.lr\"]]\n";
  EXPECT_THAT(cells(zip + kAxes), ElementsAre("attention 0.1 32", "attention 0.2 64", "rnn 0.1 32", "rnn 0.2 64"));
  // At a scale that has single values there is nothing to zip.
  EXPECT_EQ(parse_study(zip + kAxes + "[scale.smoke]\ntask = { length = 32 }\ntrain = { lr = 0.1 }\n", "w.toml",
                        {"smoke", {}})
                .runs.size(),
            2u);
}

// Line 15 of the promises: every mistake with its place and what was expected.
TEST(Study, WrongRulesAreNamedWithTheirPlace) {
  EXPECT_EQ(
      message("zip = [[\"task.length\", \"train.lr\"]]\n[task]\nlength = [32, 64]\n[train]\nlr = [0.1, 0.2, 0.3]\n"),
      "[windows.toml:1:1] zip: task.length has 2 values and train.lr has 3, expected lists of one length");
  EXPECT_EQ(message("zip = [[\"task.length\", \"train.lr\"]]\n[task]\nlength = [32, 64]\n"),
            "[windows.toml:1:1] zip: train.lr is not an axis, expected a field with a list");
  EXPECT_THAT(message("zip = 3"), HasSubstr("[windows.toml:1:1] zip: got 3, expected lists of paths"));
  EXPECT_EQ(message(kAxes + "[[exclude]]\nmodel.mixr = \"rnn\"\n"),
            "[windows.toml:9:7] exclude: no run of this study has a field 'model.mixr', did you mean 'model.mixer'?");
  EXPECT_THAT(message(kAxes + "[[exclude]]\n"), HasSubstr("a rule without conditions"));
  EXPECT_THAT(message(kAxes + "[[exclude]]\ntrain.lr = \"=< 3\"\n"),
              HasSubstr("expected a value, a list, or a comparison"));
  EXPECT_THAT(message(kAxes + "[[exclude]]\ntrain.lr = \"> 0\"\n"), HasSubstr("all 8 runs are excluded"));
  EXPECT_THAT(message(kAxes + "[[include]]\ntrian = { lr = 1 }\n"),
              HasSubstr("include: unknown key 'trian', did you mean 'train'?"));
  EXPECT_THAT(message("exclude = 3"), HasSubstr("expected tables [[exclude]]"));
  EXPECT_THAT(message("[train]\nlr = [0.1, 0.1]\n"), HasSubstr("is in its list twice"));
  EXPECT_THAT(message("[train]\nlr = []\n"), HasSubstr("[windows.toml:2:1] train.lr: an empty list"));
  EXPECT_THAT(message("[train]\nlr = \"fast\"\n"),
              HasSubstr("[windows.toml:2:1] train.lr: got \"fast\", expected a number"));
  const std::string thousand = "\"range(1, 1001, 1)\"";
  const std::string huge =
      message("[train]\nseed = " + thousand + "\nsteps = " + thousand + "\nbatch = " + thousand + "\n");
  EXPECT_THAT(huge, HasSubstr("a grid of 1e+09 runs"));
  EXPECT_THAT(huge, HasSubstr("[windows.toml:4:1]"));
}

TEST(Study, SeedsArePairedAcrossMixers) {
  const Study study = parse_study(kAxes + "seed = [1, 2]\n", "windows.toml");
  std::map<std::pair<std::int64_t, std::int64_t>, std::set<std::int64_t>> data;
  for (const config::RunConfig& run : study.runs)
    data[{run.train.integer("seed"), run.task.integer("length")}].insert(run.train.integer("data_seed"));
  for (const auto& [key, seeds] : data) EXPECT_EQ(seeds.size(), 1u) << "other data for the same seed";
}

TEST(Study, IsLoadedFromAFile) {
  const testing::TemporaryDirectory directory;
  write_file_atomically(directory / "mine.toml", kStudy);
  EXPECT_EQ(load_study(directory / "mine.toml", {"smoke", {}}).name, "mine");
  EXPECT_THROW(load_study(directory / "missing.toml"), Error);
}

TEST(Study, OutlineCountsTheRunsOfTheDefaultScale) {
  const StudyOutline outline = outline_study(kStudy, "windows.toml");
  EXPECT_EQ(outline.title, "Windows");
  EXPECT_EQ(outline.runs, 14);
}

TEST(Study, WhatIsTestedCanBeSetScaledAndVaried) {
  const std::string text = R"toml(
zip = [["task.blanks", "task.pattern", "test.along"]]
[task]
name = "copying"
blanks = [[5, 10], [10]]
pattern = [[4], [2, 4]]
[model]
mixer = "gru"
[test]
along = ["blanks", "pattern"]
values = { by = "test.along", blanks = [10, 100], pattern = [4, 8] }
examples = "2 * batch"
[[exclude]]
test.along = "pattern"
[[include]]
test = { along = "pattern", values = [40] }
task = { blanks = 10, pattern = 4 }
[scale.smoke]
test = { values = [6] }
)toml";
  const Study study = parse_study(text, "copying.toml");
  ASSERT_EQ(study.runs.size(), 2u);
  EXPECT_EQ(study.runs[0].json()["test"]["values"], Json::array({10, 100}));
  EXPECT_EQ(study.runs[0].json()["test"]["examples"], 128);
  EXPECT_EQ(study.runs[1].json()["test"]["values"], Json::array({40}));
  EXPECT_EQ(parse_study(text, "copying.toml", {"smoke", {}}).runs[0].json()["test"]["values"], Json::array({6}));
  EXPECT_THAT(message("[task]\nname = \"copying\"\n[test]\nalong = \"lenght\"\n"),
              HasSubstr("[windows.toml:4:1] test.along: got \"lenght\", expected one of the axes of copying"));
}

}  // namespace
}  // namespace mneme::study
