#include "study/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "support/temporary_directory.h"

namespace mneme {
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
  EXPECT_EQ(laptop.figure.real("threshold"), 0.8);
  EXPECT_EQ(laptop.figure.text("kind"), "lr-window");
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
  EXPECT_THAT(message("[figure]\nkind = \"pie\""),
              HasSubstr("[windows.toml:2:1] figure.kind: got \"pie\", expected one of lr-window"));
  EXPECT_THAT(message("task = 3"), HasSubstr("expected a table"));
  EXPECT_THAT(message("a = ["), HasSubstr("not valid TOML"));
  EXPECT_EQ(message(kStudy, {"lapto", {}}), "[windows.toml] unknown scale 'lapto', did you mean 'laptop'?");
  EXPECT_EQ(message("title = \"x\"", {"laptop", {}}), "[windows.toml] unknown scale 'laptop'; this study has none");
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

}  // namespace
}  // namespace mneme
