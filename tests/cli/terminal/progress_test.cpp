#include "cli/terminal/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text.h"
#include "store/sample_lab.h"

namespace mneme::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::sample_run;

class ProgressTest : public ::testing::Test {
 protected:
  ~ProgressTest() override { std::fclose(file); }

  std::string written() const {
    std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
    std::rewind(file);
    EXPECT_EQ(std::fread(text.data(), 1, text.size(), file), text.size());
    return text;
  }

  // What a terminal would show after all of `text`: cursor up and clear-to-end are obeyed.
  static std::vector<std::string> screen(const std::string& text) {
    std::vector<std::string> lines{""};
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') {
        lines.emplace_back();
      } else if (text[i] == '\x1b' && text.substr(i).find('A') != std::string::npos && std::isdigit(text[i + 2]) &&
                 text[text.find_first_not_of("0123456789", i + 2)] == 'A') {
        for (int up = std::stoi(text.substr(i + 2)); up > 0; --up) lines.pop_back();
        lines.back().clear();
        i = text.find('A', i);
      } else if (text.compare(i, 3, "\x1b[J") == 0) {
        i += 2;
      } else if (text[i] != '\r') {
        lines.back() += text[i];
      }
    }
    lines.pop_back();
    return lines;
  }

  std::FILE* file = std::tmpfile();
  std::vector<config::RunConfig> runs{sample_run({"train.seed=1", "train.steps=100"}),
                                      sample_run({"train.seed=2", "train.steps=100"})};
};

// The line of totals knew nothing of what other commands had finished, and disagreed with the line after it.
TEST_F(ProgressTest, AStoppedRunIsNotFollowedByTotals) {
  const auto progress = make_progress(runs, report::RunLabels(), file, Terminal{});
  progress->on_start(0, runs[0], 0);
  progress->on_end(0, runs[0], {.state = store::RunState::interrupted, .reason = "stopped", .summary = {}});
  const std::string text = written();
  EXPECT_THAT(text, HasSubstr("interrupted: stopped"));
  EXPECT_THAT(text, Not(HasSubstr("runs finished")));
}

TEST_F(ProgressTest, PlainLinesTellStartEvaluationAndEnd) {
  const auto progress = make_progress(runs, report::RunLabels(), file, Terminal{});
  progress->on_start(0, runs[0], 0);
  progress->on_progress(0, runs[0],
                        {.step = 10, .steps = 100, .loss = 1.5, .accuracy = 0.25, .tokens_per_second = 52000});
  const Json metric = {{"step", 10}, {"split", "validation"}, {"values", {{"accuracy", 0.5}}}};
  progress->on_metric(0, runs[0], metric);
  progress->on_metric(0, runs[0], metric);
  progress->on_tick();
  progress->on_end(0, runs[0], {.state = store::RunState::failed, .reason = "no \x1b[2J memory", .summary = {}});
  progress->on_note("something");
  const auto lines = split(written(), '\n');
  ASSERT_EQ(lines.size(), 6u) << written();
  EXPECT_EQ(lines[0], runs[0].id + " attention, lr 1e-3, seed 1: started");
  EXPECT_THAT(lines[1], HasSubstr("step 10/100, loss 1.500, validation 50.0 %, 52.0 ktok/s"));
  EXPECT_THAT(lines[2], HasSubstr("failed: no ?[2J memory"));
  EXPECT_THAT(lines[3], HasSubstr("1 of 2 runs finished, 0 running"));
  EXPECT_EQ(lines[4], "note: something");
}

TEST_F(ProgressTest, ANarrowTerminalKeepsStepAndLoss) {
  auto progress =
      make_progress(runs, report::RunLabels(), file, Terminal{.is_terminal = true, .color = false, .columns = 40});
  progress->on_start(0, runs[0], 0);
  progress->on_progress(0, runs[0],
                        {.step = 50, .steps = 100, .loss = 1.5, .accuracy = 0.25, .tokens_per_second = 52000});
  progress->on_tick();
  const auto lines = screen(written());
  EXPECT_THAT(lines[0], HasSubstr("50/100  loss 1.500"));
  EXPECT_LE(display_width(lines[0]), 39u);
}

TEST_F(ProgressTest, OnATerminalTheLinesAreRedrawnInPlace) {
  auto progress =
      make_progress(runs, report::RunLabels(), file, Terminal{.is_terminal = true, .color = false, .columns = 80});
  progress->on_start(0, runs[0], 0);
  progress->on_start(1, runs[1], 40);
  for (int step = 50; step < 100; step += 10) {
    progress->on_progress(0, runs[0],
                          {.step = step, .steps = 100, .loss = 1.5, .accuracy = 0.25, .tokens_per_second = 52000});
    progress->on_tick();
  }
  auto lines = screen(written());
  ASSERT_EQ(lines.size(), 3u) << written();
  EXPECT_THAT(lines[0], HasSubstr("90/100"));
  EXPECT_THAT(lines[1], HasSubstr("40/100"));
  EXPECT_THAT(lines[2], HasSubstr("0 of 2 runs finished, 2 running"));
  for (const std::string& line : lines) EXPECT_LE(display_width(line), 79u) << line;

  progress->on_end(0, runs[0], {.state = store::RunState::interrupted, .reason = "stopped", .summary = {}});
  progress->on_tick();
  lines = screen(written());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], HasSubstr("interrupted: stopped"));
  EXPECT_THAT(lines[1], HasSubstr(runs[1].id));
  EXPECT_THAT(lines[2], HasSubstr("0 of 2 runs finished, 1 running")) << "an interrupted run has not ended";

  progress->on_end(1, runs[1], {.state = store::RunState::interrupted, .reason = "stopped", .summary = {}});
  progress.reset();
  lines = screen(written());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(written(), Not(HasSubstr("\x1b[?")));
}

}  // namespace
}  // namespace mneme::cli
