#include "cli/terminal/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cli/terminal/terminal.h"
#include "core/text.h"

namespace mneme::cli {
namespace {

const PlotFrame kFrame{
    .title = "t", .columns = 20, .rows = 4, .low = 0, .high = 1, .low_label = "0", .high_label = "1"};

TEST(Plot, ARisingLineGoesFromBottomLeftToTopRight) {
  const auto lines = split(plot({{0, 0}, {100, 1}}, kFrame), '\n');
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[0], "t");
  EXPECT_EQ(lines[1], "1 ┤             ⣀⠤⠒⠉");
  EXPECT_EQ(lines[2].substr(0, 5), "  ┤");
  EXPECT_EQ(lines[4].substr(0, 11), "0 ┤⣀⠤");
  EXPECT_EQ(lines[5], "   0        step 100");
}

TEST(Plot, ValuesOutsideAreAtTheEdgeAndTheRestIsLeftOut) {
  const std::string text = plot({{0, -5}, {1, 0.5}, {2, NAN}, {3, INFINITY}, {4, 9}}, kFrame);
  for (const std::string& line : split(text, '\n')) EXPECT_LE(display_width(line), 20u) << line;
  EXPECT_THAT(plot({{0, NAN}}, kFrame), ::testing::HasSubstr("no points"));
  EXPECT_THAT(plot({}, kFrame), ::testing::HasSubstr("no points"));
}

TEST(Plot, OnePointIsDrawn) { EXPECT_THAT(plot({{7, 1}}, kFrame), ::testing::HasSubstr("1 ┤⠁")); }

}  // namespace
}  // namespace mneme::cli
