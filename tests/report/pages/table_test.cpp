#include "report/pages/table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace mneme::report {
namespace {

Table sample() {
  return {.columns = {{"mixer"}, {"test %", Align::right}}, .rows = {{"attention", "99.0"}, {"≥ rwkv_7", "5.1"}}};
}

std::size_t code_points(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

TEST(Table, TextIsAligned) {
  EXPECT_EQ(to_text(sample()),
            "mixer      test %\n"
            "─────────  ──────\n"
            "attention    99.0\n"
            "≥ rwkv_7      5.1\n");
}

TEST(Table, TextCannotDriveTheTerminal) {
  const Table table{.columns = {{"name"}}, .rows = {{"a\x1b[2Jb\nc\x7f"}, {"x\xc2\x9bJ"}}};
  const std::string text = to_text(table);
  EXPECT_NE(text.find("a?[2Jb?c?"), std::string::npos);
  EXPECT_NE(text.find("x?J"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Table, HtmlEscapesCells) {
  const Table table{.columns = {{"<b>"}, {"n", Align::right}}, .rows = {{"<img src=x onerror='a()'>", "1 & \"2\""}}};
  EXPECT_EQ(to_html(table),
            "<table>\n<thead>\n<tr><th>&lt;b&gt;</th><th class=\"number\">n</th></tr>\n</thead>\n<tbody>\n"
            "<tr><td>&lt;img src=x onerror=&#39;a()&#39;&gt;</td><td class=\"number\">1 &amp; &quot;2&quot;</td></tr>\n"
            "</tbody>\n</table>\n");
}

TEST(Table, CellsOfALinkColumnLeadToTheSectionTheyName) {
  const Table table{.columns = {{"item", Align::left, true}}, .rows = {{"A.fig1"}, {"\"><script>"}}};
  const std::string html = to_html(table);
  EXPECT_NE(html.find("<th>item</th>"), std::string::npos);
  EXPECT_NE(html.find("<a href=\"#A.fig1\">A.fig1</a>"), std::string::npos);
  EXPECT_EQ(html.find("<script>"), std::string::npos);
  EXPECT_EQ(to_text(table).find("href"), std::string::npos);
}

// Tables of eleven columns used to run over the edge of every terminal, broken by it in the middle of words.
TEST(Table, AWideTableIsBrokenAtSpaces) {
  const Table table{
      .columns = {{"mixer"}, {"what it is"}, {"test %", Align::right}},
      .rows = {{"attention", "softmax over all of the past", "99.0 ± 0.2"}, {"ema", "an average", "5.1"}}};
  EXPECT_EQ(to_text(table, 34),
            "mixer      what it is       test %\n"
            "─────────  ───────────  ──────────\n"
            "attention  softmax      99.0 ± 0.2\n"
            "           over all of\n"
            "           the past\n"
            "ema        an average          5.1\n");
  for (const std::size_t columns : {30, 36, 44, 60})
    for (const std::string& line : split(to_text(table, columns), '\n')) EXPECT_LE(code_points(line), columns) << line;
  EXPECT_EQ(to_text(table, 60), to_text(table));
}

TEST(Table, ATableWhoseWordsAreTooWideIsAList) {
  EXPECT_EQ(to_text(sample(), 14),
            "mixer   attention\n"
            "test %  99.0\n"
            "\n"
            "mixer   ≥ rwkv_7\n"
            "test %  5.1\n");
}

TEST(Table, LatexIsBooktabsAndEscaped) {
  const Table table{.columns = {{"mixer"}, {"test %", Align::right}}, .rows = {{"rwkv_7 & {x}\\~^", "$5#"}}};
  EXPECT_EQ(to_latex(table),
            "\\begin{tabular}{lr}\n\\toprule\nmixer & test \\% \\\\\n\\midrule\n"
            "rwkv\\_7 \\& \\{x\\}\\textbackslash{}\\textasciitilde{}\\textasciicircum{} & \\$5\\# \\\\\n"
            "\\bottomrule\n\\end{tabular}\n");
}

TEST(Table, ARaggedRowIsADefect) {
  const Table table{.columns = {{"a"}, {"b"}}, .rows = {{"1"}}};
  EXPECT_THROW(to_text(table), Error);
  EXPECT_THROW(to_html(table), Error);
  EXPECT_THROW(to_latex(table), Error);
}

}  // namespace
}  // namespace mneme::report
