#include "report/pages/html.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>

#include "core/files.h"
#include "report/figures/figure_lr_window.h"
#include "report/figures/kinds.h"
#include "report/pages/assets.h"
#include "report/pages/tables_lr_window.h"
#include "report/pages/tables_runs.h"
#include "report/sample_rows.h"

namespace mneme::report {
namespace {

const std::string kHostile = "</script><script>alert(1)</script><img src=x onerror=\"alert('2')\">\u2028&amp;";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// A page in which every string that can come from the store is hostile.
std::string hostile_page() {
  ResultRow row = testing::sample_row(kHostile, 1e-3, 1, 1, "failed");
  row.run = row.reason = kHostile;
  row.config["task"]["name"] = row.config["train"]["seed"] = kHostile;
  const std::vector<ResultRow> rows{row};
  const LrWindows windows = find_lr_windows(rows);
  return render_page(
      {.title = kHostile,
       .summary = kHostile,
       .facts = {{kHostile, kHostile}},
       .sections = {{.title = kHostile,
                     .findings = {kHostile},
                     .figures = {{kHostile, lr_window_figure(windows, {kHostile, setup_line(rows), kHostile, 0.1}),
                                  kHostile}},
                     .tables = {{kHostile, window_table(windows), kHostile, false, ""},
                                {kHostile, run_table(rows), kHostile, true, ""}}}},
       .footer = kHostile});
}

TEST(Html, HostileStringsAreInert) {
  std::string page = hostile_page();
  EXPECT_GT(count(page, "&lt;img src=x onerror=&quot;"), 8u);
  const std::size_t bundle = page.find(asset("figure.js"));
  ASSERT_NE(bundle, std::string::npos);
  page.erase(bundle, asset("figure.js").size());
  EXPECT_EQ(count(page, "<img"), 0u);
  EXPECT_EQ(count(page, "<script>alert"), 0u);
  EXPECT_EQ(count(page, "<script"), 2u);  // the figure's data and the bundle
  EXPECT_EQ(count(page, "</script"), 2u);
}

TEST(Html, JsonInScriptsIsAsciiWithoutMarkupAndReadsBack) {
  const Json value = {{"name", kHostile}};
  const std::string text = json_for_script(value);
  for (const char c : text) {
    EXPECT_LT(static_cast<unsigned char>(c), 0x80);
    EXPECT_TRUE(c != '<' && c != '>' && c != '&');
  }
  EXPECT_NE(text.find("\\u2028"), std::string::npos);
  EXPECT_EQ(Json::parse(text), value);
}

TEST(Html, InvalidUtf8DoesNotStopTheReport) {
  EXPECT_EQ(json_for_script("a\xff"
                            "b"),
            "\"a\\ufffdb\"");
}

TEST(Html, PolicyAllowsTheOneScriptAndNothingElse) {
  const std::string page = render_page({.title = "Title", .summary = "", .facts = {}, .sections = {}, .footer = ""});
  EXPECT_NE(page.find("default-src 'none'; script-src '" + std::string(asset("figure.js.integrity")) + "';"),
            std::string::npos);
  EXPECT_EQ(page.find("unsafe-eval"), std::string::npos);
  EXPECT_NE(page.find("<script>" + std::string(asset("figure.js")) + "</script>"), std::string::npos);
  EXPECT_EQ(page.find("<script src"), std::string::npos);
  EXPECT_EQ(page.find("<link"), std::string::npos);
}

// Every run is in the figure once and in the list once: what a browser must read grows with the runs alone.
TEST(Html, AReportOfThreeThousandRunsIsSmall) {
  std::vector<double> rates;
  for (int i = 0; i < 30; ++i) rates.push_back(1e-4 * std::pow(10, i / 10.0));
  std::vector<int> seeds(20);
  std::iota(seeds.begin(), seeds.end(), 1);
  const std::vector<ResultRow> rows = testing::sample_sweep({{"attention", 1.6e-4, 5e-2, 0.09},
                                                             {"deltanet", 3e-4, 3e-2, 1},
                                                             {"hyena", 6e-4, 1.6e-2, 1},
                                                             {"mamba", 6e-4, 2e-3, 0.02},
                                                             {"rwkv4", 4e-4, 8e-3, 1}},
                                                            rates, seeds);
  ASSERT_EQ(rows.size(), 3000u);
  const FigureRequest figure = default_figure();
  const FigureReport report = figure.kind->build(
      rows, {.name = "many", .title = "Many", .scale = "", .chance = {}, .paper = {}}, figure.options);
  ReportPage page{.title = "Many", .summary = "", .facts = {}, .sections = {}, .footer = ""};
  page.sections.push_back(
      {.title = "", .findings = report.findings, .figures = report.figures, .tables = report.tables});
  page.sections.push_back(
      {.title = "", .findings = {}, .figures = {}, .tables = {{"Runs", run_table(rows), "", true, "runs"}}});
  const std::string html = render_page(page);
  if (const char* keep = std::getenv("MNEME_KEEP_FIGURES")) write_file_atomically(Path(keep) / "many.html", html);
  EXPECT_EQ(count(html, rows[1234].run), 2u);
  EXPECT_LT(html.size() - asset("figure.js").size(), 1'500'000u);
}

TEST(Html, SectionsCanBeLinkedToAndHaveFacts) {
  ReportPage page{.title = "T", .summary = "", .facts = {}, .sections = {}, .footer = ""};
  page.sections.push_back({.title = "Part",
                           .findings = {},
                           .figures = {},
                           .tables = {},
                           .anchor = "a\"><img src=x>",
                           .facts = {{"Study", "<b>"}}});
  const std::string html = render_page(page);
  EXPECT_NE(html.find("id=\"a&quot;&gt;&lt;img src=x&gt;\">Part</h2>"), std::string::npos);
  EXPECT_NE(html.find("<dt>Study</dt><dd>&lt;b&gt;</dd>"), std::string::npos);
}

TEST(Html, FoldedTablesAreDetails) {
  const Table table{.columns = {{"a"}}, .rows = {{"1"}}};
  const std::string page =
      render_page({.title = "T",
                   .summary = "",
                   .facts = {},
                   .sections = {{.title = "Part",
                                 .findings = {},
                                 .figures = {},
                                 .tables = {{"Open", table, "", false, ""}, {"Closed", table, "", true, ""}}}},
                   .footer = ""});
  EXPECT_NE(page.find("<h2>Open</h2>"), std::string::npos);
  EXPECT_NE(page.find("<summary>Closed</summary>"), std::string::npos);
}

}  // namespace
}  // namespace mneme::report
