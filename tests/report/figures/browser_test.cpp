// A page in a real browser.
#include <gtest/gtest.h>

#include "core/files.h"
#include "core/subprocess.h"
#include "report/figures/figure_samples.h"
#include "report/pages/html.h"
#include "support/temporary_directory.h"

namespace mneme::report {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// The page after its script has run, as the browser would save it.
std::string opened(const Path& page, const std::string& anchor) {
  const testing::TemporaryDirectory profile;
  return run_process({"timeout", "120", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
                      "--user-data-dir=" + profile.path().string(), "--virtual-time-budget=20000", "--dump-dom",
                      "file://" + page.string() + anchor})
      .out;
}

TEST(Browser, DrawsEveryFigureFromWhereverThePageIsOpened) {
  if (!program_exists("chromium")) GTEST_SKIP() << "chromium is not installed";
  ReportPage page{.title = "Many", .summary = "", .facts = {}, .sections = {}, .footer = ""};
  const ReportFigure figure = testing::build_sample(testing::figure_samples().front()).figures.front();
  for (const char* anchor : {"first", "second", "third"}) {
    ReportSection section{.title = anchor, .findings = {}, .figures = {}, .tables = {}, .anchor = anchor};
    section.figures.push_back(figure);
    page.sections.push_back(std::move(section));
  }
  const testing::TemporaryDirectory directory;
  write_file_atomically(directory / "page.html", render_page(page));
  for (const char* anchor : {"", "#third"}) {
    const std::string html = opened(directory / "page.html", anchor);
    EXPECT_EQ(count(html, "class=\"marks\""), 3U) << anchor;
    EXPECT_EQ(count(html, "class=\"figure failed\""), 0U) << anchor;
  }
}

}  // namespace
}  // namespace mneme::report
