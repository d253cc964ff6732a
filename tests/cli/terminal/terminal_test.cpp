#include "cli/terminal/terminal.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace mneme::cli {
namespace {

TEST(Terminal, AFileIsNone) {
  std::FILE* file = std::tmpfile();
  const Terminal terminal = terminal_of(file);
  EXPECT_FALSE(terminal.is_terminal);
  EXPECT_FALSE(terminal.color);
  EXPECT_EQ(terminal.columns, 80);
  EXPECT_EQ(paint("x", Color::red, terminal), "x");
  std::fclose(file);
}

TEST(Terminal, ARealOneHasColorsUnlessTheyAreRefused) {
  const int master = ::posix_openpt(2 /* O_RDWR */);
  if (master < 0) GTEST_SKIP() << "there are no pseudo terminals here: is /dev/pts mounted?";
  ASSERT_EQ(::grantpt(master), 0);
  ASSERT_EQ(::unlockpt(master), 0);
  std::FILE* slave = std::fopen(::ptsname(master), "r+");
  ASSERT_NE(slave, nullptr);
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  EXPECT_TRUE(terminal_of(slave).is_terminal);
  EXPECT_TRUE(terminal_of(slave).color);
  EXPECT_EQ(paint("x", Color::red, terminal_of(slave)), "\x1b[31mx\x1b[0m");
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_TRUE(terminal_of(slave).is_terminal);
  EXPECT_FALSE(terminal_of(slave).color);
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(terminal_of(slave).is_terminal);
  std::fclose(slave);
}

TEST(Terminal, TextIsMadeHarmless) {
  EXPECT_EQ(harmless("a\x1b[2Jb\nc\x7f"), "a?[2Jb c?");
  EXPECT_EQ(harmless("größer"), "größer");
}

TEST(Terminal, TextIsCutAndPaddedByCodePoints) {
  EXPECT_EQ(display_width("größer"), 6u);
  EXPECT_EQ(clipped("größer", 6), "größer");
  EXPECT_EQ(clipped("größer", 4), "grö…");
  EXPECT_EQ(clipped("abc", 0), "");
  EXPECT_EQ(padded("ö", 3), "ö  ");
  EXPECT_EQ(padded("abcd", 3), "abcd");
}

TEST(Terminal, ABarFillsInEighths) {
  EXPECT_EQ(bar(0, 3), "   ");
  EXPECT_EQ(bar(1, 3), "███");
  EXPECT_EQ(bar(0.5, 3), "█▌ ");
  EXPECT_EQ(bar(7, 2), "██");
  EXPECT_EQ(bar(0.0 / 0.0, 2), "  ");
  for (double share = 0; share <= 1; share += 0.01) EXPECT_EQ(display_width(bar(share, 10)), 10u);
}

}  // namespace
}  // namespace mneme::cli
