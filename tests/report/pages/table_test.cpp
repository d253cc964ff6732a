#include "report/pages/table.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace mneme::report {
namespace {

Table sample() {
  return {.columns = {{"mixer"}, {"test %", Align::right}}, .rows = {{"attention", "99.0"}, {"≥ rwkv_7", "5.1"}}};
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

TEST(Table, CsvQuotesWhereNeeded) {
  const Table table{.columns = {{"a"}, {"b,c"}}, .rows = {{"plain", "say \"hi\""}, {"two\nlines", ""}}};
  EXPECT_EQ(to_csv(table), "a,\"b,c\"\r\nplain,\"say \"\"hi\"\"\"\r\n\"two\nlines\",\r\n");
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
  EXPECT_THROW(to_csv(table), Error);
  EXPECT_THROW(to_latex(table), Error);
}

}  // namespace
}  // namespace mneme::report
