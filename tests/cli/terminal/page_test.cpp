#include "cli/terminal/page.h"

#include <gtest/gtest.h>

namespace mneme::cli {
namespace {

// `mneme show mixer mamba` at 100 columns broke words in two.
TEST(Page, ParagraphsAndItemsAreBrokenAtSpaces) {
  EXPECT_EQ(fit_page_to("one two three\nfour five\n\nsix\n", 10), "one two\nthree four\nfive\n\nsix\n");
  EXPECT_EQ(fit_page_to("- one two\n  three\n- four\n", 10), "- one\n  two\n  three\n- four\n");
}

TEST(Page, HeadingsTablesAndCodeStayAsTheyAre) {
  for (const char* page : {"# A heading that is long\n", "| a | table |\n|---|---|\n| b | c |\n",
                           "    code by its indent\n", "```\ncode in a fence\n\nand more of it\n```\n", ""})
    EXPECT_EQ(fit_page_to(page, 10), page);
  EXPECT_EQ(fit_page_to("text\n# heading\ntext\n", 10), "text\n# heading\ntext\n");
}

}  // namespace
}  // namespace mneme::cli
