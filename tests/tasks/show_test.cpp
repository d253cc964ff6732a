#include "tasks/show.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text.h"
#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::task_options;

std::string shown(const std::string& task, const std::vector<std::string>& options, const ShowStyle& style,
                  std::int64_t count = 1) {
  return show_samples(find_task(task), task_options(task, options), 42, Split::train, count, style);
}

std::string without_colours(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b')
      i = text.find('m', i);
    else
      plain += text[i];
  }
  return plain;
}

TEST(ShowSamples, PutsRolesInputAndAnswersUnderEachOther) {
  const std::string text = shown("copying", {"pattern=3", "blanks=4"}, {});
  const auto lines = split(text, '\n');
  ASSERT_GE(lines.size(), 6U);
  EXPECT_EQ(lines[0], "copying, seed 42, train 0");
  EXPECT_EQ(lines[1], "at 0      d d d . . . | a a a");
  const std::string pattern = lines[2].substr(10, 5);
  EXPECT_EQ(lines[2], "input     " + pattern + " _ _ _ > _ _ _");
  EXPECT_EQ(lines[3], "label                   " + pattern);
  EXPECT_EQ(lines[5], ". filler   d data   | marker   a answer");
}

TEST(ShowSamples, ColoursDoNotChangeTheLayout) {
  for (const TaskEntry& entry : task_list()) {
    const std::string plain = shown(entry.name, {}, {.colour = false, .width = 60}),
                      coloured = shown(entry.name, {}, {.colour = true, .width = 60});
    EXPECT_THAT(plain, Not(HasSubstr("\x1b"))) << entry.name;
    EXPECT_THAT(coloured, HasSubstr("\x1b[")) << entry.name;
    EXPECT_EQ(without_colours(coloured), plain) << entry.name;
  }
}

TEST(ShowSamples, WrapsToTheWidth) {
  for (const TaskEntry& entry : task_list())
    for (const std::size_t width : {40, 100})
      for (const std::string& line : split(shown(entry.name, {}, {.width = width}), '\n'))
        if (line.find("seed 42") == line.npos && line.find("filler") == line.npos && line.find("data") == line.npos) {
          EXPECT_LE(line.size(), width) << entry.name;
        }
  EXPECT_FALSE(shown("mqar", {}, {.width = 1}).empty()) << "a terminal of one column still shows something";
}

TEST(ShowSamples, DrawsSignals) {
  const std::string text = shown("counting", {"length=20", "isi=3", "iti=[4, 4]"}, {});
  EXPECT_THAT(text, HasSubstr("input    ____###____###____#\nlabel    ___###____###____##"));
}

TEST(SamplesJson, HasTheAgreedForm) {
  const Json json = samples_json(find_task("mqar"), task_options("mqar", {"length=16", "pairs=2", "vocab=32"}), 5,
                                 Split::validation, 2);
  EXPECT_EQ(json["task"], "mqar");
  EXPECT_EQ(json["options"]["length"], 16);
  EXPECT_EQ(json["options"]["filler"], "random");
  ASSERT_EQ(json["examples"].size(), 2U);
  const auto task = testing::make_task("mqar", {"length=16", "pairs=2", "vocab=32"});
  const Example example = testing::make_example(*task, 1, Split::validation, 5);
  EXPECT_EQ(json["examples"][1]["input"].get<std::vector<std::int32_t>>(), example.tokens);
  EXPECT_EQ(json["examples"][1]["labels"].get<std::vector<std::int32_t>>(), example.labels);
  EXPECT_EQ(json["examples"][0]["labels"][0], -100);
}

TEST(SamplesJson, WritesSignalsAsNumbers) {
  const Json json = samples_json(find_task("counting"), task_options("counting"), 5, Split::train, 1);
  EXPECT_EQ(json["examples"][0]["input"].size(), 199U);
  EXPECT_EQ(json["examples"][0]["input"][0].dump(), "0");
}

TEST(DescribeTask, TellsEverythingThatIsDeclared) {
  for (const TaskEntry& entry : task_list()) {
    const std::string text = describe_task(entry);
    const Json json = task_json(entry);
    for (const Field& field : entry.options) EXPECT_THAT(text, HasSubstr("  " + field.name + " ")) << entry.name;
    EXPECT_THAT(text, HasSubstr("chance ")) << entry.name;
    EXPECT_THAT(text, HasSubstr(entry.citation)) << entry.name;
    EXPECT_EQ(json["options"].size(), entry.options.size());
    EXPECT_EQ(json["axes"].size(), entry.axes.size());
    EXPECT_GT(json["chance"].get<double>(), 0.0);
    EXPECT_THAT(list_tasks(), HasSubstr(entry.name + " "));
  }
}

}  // namespace
}  // namespace mneme::tasks
