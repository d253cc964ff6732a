// Every task has a page, and what the page shows is what the program prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/text.h"
#include "support/places.h"
#include "tasks/show.h"
#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

using ::testing::HasSubstr;

std::string page(const std::string& name) {
  return read_file(Path(source_directory()) / "docs" / "tasks" / (name + ".md"));
}

struct WorkedExample {
  std::string command, output;
};

// The fenced blocks that start with "$ mneme sample".
std::vector<WorkedExample> worked_examples(const std::string& text) {
  std::vector<WorkedExample> examples;
  const std::string start = "```\n$ ";
  for (std::size_t at = text.find(start); at != text.npos; at = text.find(start, at + 1)) {
    const std::size_t command = at + start.size(), output = text.find('\n', command) + 1;
    examples.push_back(
        {text.substr(command, output - command - 1), text.substr(output, text.find("\n```", output) + 1 - output)});
  }
  return examples;
}

// What the command prints when its output is no terminal.
std::string run(std::string command) {
  command.erase(std::remove(command.begin(), command.end(), '\''), command.end());
  const auto words = split(command, ' ');
  EXPECT_EQ(words.at(0) + words.at(1), "mnemesample") << command;
  std::vector<std::string> assignments;
  std::int64_t count = 3;
  Split split = Split::train;
  for (std::size_t i = 3; i < words.size(); ++i) {
    if (words[i] == "--n")
      count = std::stoll(words.at(++i));
    else if (words[i] == "--split")
      split = parse_split(words.at(++i));
    else
      assignments.push_back(words[i]);
  }
  return show_samples(find_task(words.at(2)), testing::task_options(words.at(2), assignments), 42, split, count,
                      {.colour = false, .width = 80});
}

TEST(TaskPages, ShowWhatTheProgramPrints) {
  for (const TaskEntry& entry : task_list()) {
    const auto examples = worked_examples(page(entry.name));
    EXPECT_FALSE(examples.empty()) << entry.name << " has no worked example";
    for (const WorkedExample& example : examples) {
      EXPECT_THAT(example.command, HasSubstr(" " + entry.name + " "));
      EXPECT_EQ(run(example.command), example.output) << example.command;
    }
  }
}

TEST(TaskPages, TellEveryOptionWithItsDefaultAndLimits) {
  for (const TaskEntry& entry : task_list()) {
    const std::string text = page(entry.name);
    for (const Field& field : entry.options) {
      const auto lines = split(text, '\n');
      const auto row = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.starts_with("| `" + field.name + "` |");
      });
      ASSERT_NE(row, lines.end()) << entry.name << "." << field.name;
      const Json shown = parse_json(split(*row, '`').at(3), entry.name);
      EXPECT_EQ(shown, field.fallback) << entry.name << "." << field.name;
      EXPECT_THAT(*row, HasSubstr(field.expected()));
    }
    EXPECT_THAT(text, HasSubstr(entry.layout)) << entry.name;
  }
}

TEST(TaskPages, AreInTheIndex) {
  for (const TaskEntry& entry : task_list())
    EXPECT_THAT(page("README"), HasSubstr("[" + entry.name + "](" + entry.name + ".md)"));
}

}  // namespace
}  // namespace mneme::tasks
