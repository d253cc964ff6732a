#include "report/figures/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "core/error.h"
#include "core/files.h"
#include "report/figures/figure_lr_window.h"
#include "report/sample_rows.h"
#include "support/temporary_directory.h"

namespace mneme::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::TemporaryDirectory;

Json sample_figure(const std::string& mixer = "attention") {
  const std::vector<ResultRow> rows =
      testing::sample_sweep({{mixer, 2e-4, 3e-2, 0.05}, {"mamba", 6e-4, 4e-3, 1}}, testing::kSevenRates, {1, 2, 3});
  return lr_window_figure(find_lr_windows(rows), {"A title", setup_line(rows), "laptop", 0.02});
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Render, SvgHasTheMarksAndTexts) {
  const TemporaryDirectory directory;
  const Rendering rendering = render_figure(sample_figure(), directory / "figure");
  EXPECT_THAT(rendering.messages, IsEmpty());
  EXPECT_THAT(rendering.written,
              ElementsAre(directory / "figure.vl.json", directory / "figure.svg", directory / "figure.png"));
  const std::string svg = read_file(directory / "figure.svg");
  EXPECT_THAT(svg, HasSubstr("<svg"));
  for (const char* text : {">A title<", ">Test accuracy (%)<", ">Learning rate<", ">1e-4<", ">1e-1<", ">100<",
                           ">attention<", ">mamba<", ">90 %<", ">chance<", ">decades<"})
    EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_EQ(count(svg, "aria-roledescription=\"area mark container\""), 2u);  // the bands
  EXPECT_EQ(count(svg, "aria-roledescription=\"line mark\""), 2u);
  EXPECT_EQ(count(svg, ">×<"), 3u);  // attention at its highest rate
  EXPECT_EQ(read_file(directory / "figure.png").substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(Json::parse(read_file(directory / "figure.vl.json")), sample_figure());
}

TEST(Render, HostileNamesAreTextInTheSvg) {
  const TemporaryDirectory directory;
  const Rendering rendering = render_figure(sample_figure("</text><script>'\\\"${x}"), directory / "figure");
  EXPECT_THAT(rendering.messages, IsEmpty());
  const std::string svg = read_file(directory / "figure.svg");
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("&lt;/text&gt;&lt;script&gt;"));
}

TEST(Render, EmptyAndSingleRunFiguresAreRendered) {
  const TemporaryDirectory directory;
  const std::vector<ResultRow> one{testing::sample_row("m", 1e-3, 1, 0.5)};
  EXPECT_THAT(render_figure(lr_window_figure(find_lr_windows({}), {"None", "", "", {}}), directory / "none").messages,
              IsEmpty());
  EXPECT_THAT(render_figure(lr_window_figure(find_lr_windows(one), {"One", "", "", {}}), directory / "one").messages,
              IsEmpty());
}

TEST(Render, WithoutNodeTheMessageSaysSo) {
  const TemporaryDirectory directory;
  const Rendering rendering = render_figure(sample_figure(), directory / "figure", {.node = "no-such-node"});
  EXPECT_THAT(rendering.written, ElementsAre(directory / "figure.vl.json"));
  ASSERT_EQ(rendering.messages.size(), 1u);
  EXPECT_THAT(rendering.messages[0], HasSubstr("figure.svg was not rendered: no-such-node is not installed"));
  EXPECT_THAT(rendering.messages[0], HasSubstr("nodejs"));
}

TEST(Render, WithoutRsvgTheSvgIsStillWritten) {
  const TemporaryDirectory directory;
  const Rendering rendering = render_figure(sample_figure(), directory / "figure", {.rsvg_convert = "/no/such/rsvg"});
  EXPECT_THAT(rendering.written, ElementsAre(directory / "figure.vl.json", directory / "figure.svg"));
  ASSERT_EQ(rendering.messages.size(), 1u);
  EXPECT_THAT(rendering.messages[0], HasSubstr("librsvg2-bin"));
}

TEST(Render, AProgramThatFailsIsAMessageWithItsReason) {
  const TemporaryDirectory directory;
  const Rendering bad = render_figure({{"mark", 3}}, directory / "bad");
  ASSERT_EQ(bad.messages.size(), 1u);
  EXPECT_THAT(bad.messages[0], HasSubstr("exit code 1: render: "));
  const Rendering network = render_figure(
      {{"data", {{"url", "https://example.org/x.json"}}}, {"mark", "point"}, {"encoding", Json::object()}},
      directory / "net");
  ASSERT_EQ(network.messages.size(), 1u);
  EXPECT_THAT(network.messages[0], HasSubstr("a figure may not load https://example.org/x.json"));
}

TEST(Render, LeavesNothingBehind) {
  const TemporaryDirectory directory;
  const TemporaryDirectory scratch;
  const char* before = ::getenv("TMPDIR");
  const std::string previous = before == nullptr ? "" : before;
  ASSERT_EQ(::setenv("TMPDIR", scratch.path().c_str(), 1), 0);
  const Rendering rendering = render_figure(sample_figure(), directory / "figure");
  EXPECT_EQ(rendering.written.size(), 3u);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", previous.c_str(), 1);
}

TEST(Render, AnUnwritableTargetIsAnError) {
  const TemporaryDirectory directory;
  EXPECT_THROW(render_figure(sample_figure(), directory / "no" / "such" / "figure"), Error);
}

}  // namespace
}  // namespace mneme::report
