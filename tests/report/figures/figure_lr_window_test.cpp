#include "report/figures/figure_lr_window.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/sample_rows.h"

namespace mneme::report {
namespace {

Json figure_of(const std::vector<ResultRow>& rows, std::optional<double> chance = {}) {
  return lr_window_figure(find_lr_windows(rows),
                          {.title = "Windows", .setup = setup_line(rows), .scale = "laptop", .chance = chance});
}

// The layers of a panel with this type of mark.
std::vector<Json> layers(const Json& figure, int panel, const std::string& mark) {
  std::vector<Json> found;
  for (const Json& layer : figure["vconcat"][panel]["layer"])
    if (layer["mark"]["type"] == mark) found.push_back(layer);
  return found;
}

TEST(FigureLrWindow, AxesAreLogarithmicRateAndPercent) {
  const Json figure = figure_of(testing::three_mixers());
  const Json line = layers(figure, 0, "line").at(0);
  EXPECT_EQ(line["encoding"]["x"]["scale"]["type"], "log");
  EXPECT_EQ(line["encoding"]["y"]["scale"]["domain"], Json({0, 100}));
  EXPECT_EQ(line["encoding"]["y"]["axis"]["title"], "Test accuracy (%)");
  EXPECT_EQ(layers(figure, 1, "circle").at(0)["encoding"]["x"]["axis"]["title"], "Learning rate");
}

TEST(FigureLrWindow, HasLineBandSeedsAndReferenceLines) {
  const Json figure = figure_of(testing::three_mixers(), 0.25);
  EXPECT_EQ(layers(figure, 0, "line").size(), 1u);
  EXPECT_EQ(layers(figure, 0, "area").at(0)["encoding"]["y2"]["field"], "max");
  EXPECT_EQ(layers(figure, 0, "circle").size(), 1u);
  const auto rules = layers(figure, 0, "rule");
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0]["data"]["values"][0]["value"], 90.0);
  EXPECT_EQ(rules[1]["data"]["values"][0]["value"], 25.0);
  EXPECT_EQ(layers(figure_of(testing::three_mixers()), 0, "rule").size(), 1u);
}

TEST(FigureLrWindow, DataIsPercentOfTheTestSplit) {
  std::vector<ResultRow> rows{testing::sample_row("m", 1e-3, 1, 0.5), testing::sample_row("m", 1e-3, 2, 1.0)};
  rows[0].test_accuracy = 0.25;
  const Json data = figure_of(rows)["datasets"];
  ASSERT_EQ(data["means"].size(), 1u);
  EXPECT_EQ(data["means"][0]["mean"], 62.5);
  EXPECT_EQ(data["means"][0]["min"], 25.0);
  EXPECT_EQ(data["means"][0]["max"], 100.0);
  ASSERT_EQ(data["seeds"].size(), 2u);
  EXPECT_EQ(data["seeds"][0]["test"], 25.0);
}

// Ten thousand dots are no figure, and take a browser seconds. Means and ranges are still those of all.
TEST(FigureLrWindow, OfManySeedsSomeAreDrawn) {
  std::vector<ResultRow> rows;
  for (int seed = 0; seed < 1500; ++seed)
    for (const double rate : {1e-3, 1e-2}) rows.push_back(testing::sample_row("m", rate, seed, seed / 1499.0));
  EXPECT_FALSE(draws_every_seed({{"", find_lr_windows(rows)}}));
  const Json data = figure_of(rows)["datasets"];
  EXPECT_EQ(data["seeds"].size(), 2000u);
  EXPECT_NEAR(data["means"][0]["mean"].get<double>(), 50, 1e-9);
  EXPECT_EQ(data["means"][0]["max"], 100.0);
  double least = 100, most = 0;
  for (const Json& seed : data["seeds"]) {
    least = std::min(least, seed["test"].get<double>());
    most = std::max(most, seed["test"].get<double>());
  }
  EXPECT_EQ(least, 0);
  EXPECT_EQ(most, 100);
  rows.resize(2000);
  EXPECT_TRUE(draws_every_seed({{"", find_lr_windows(rows)}}));
  EXPECT_EQ(figure_of(rows)["datasets"]["seeds"].size(), 2000u);
}

TEST(FigureLrWindow, WindowsAreMarked) {
  using testing::sample_row;
  const std::vector<ResultRow> rows{
      sample_row("a", 1e-4, 1, 0), sample_row("a", 1e-3, 1, 1), sample_row("a", 1e-2, 1, 1),
      sample_row("a", 1e-1, 1, 0), sample_row("b", 1e-4, 1, 1), sample_row("b", 1e-3, 1, 1),
      sample_row("c", 1e-4, 1, 0), sample_row("d", 1e-4, 1, 1), sample_row("d", 1e-3, 1, 0)};
  const Json windows = figure_of(rows)["datasets"]["windows"];
  EXPECT_EQ(windows[0]["lo"], 1e-3);
  EXPECT_EQ(windows[0]["hi"], 1e-2);
  EXPECT_EQ(windows[0]["width"], "1.0");
  EXPECT_EQ(windows[1]["width"], "≥ 1.0");
  EXPECT_EQ(windows[2]["width"], "none");
  EXPECT_TRUE(windows[2]["lo"].is_null());
  EXPECT_EQ(windows[3]["width"], "0");
}

TEST(FigureLrWindow, SubtitleStatesSetupSeedsRunsAndScale) {
  std::vector<ResultRow> rows = testing::demo_like();
  EXPECT_EQ(figure_of(rows)["title"]["subtitle"],
            Json({"MQAR, length 32, 4 pairs, vocabulary 64; 2 layers, width 64",
                  "2 seeds per rate, 10 runs, laptop scale", "line: mean; band: min to max"}));
  rows.back().outcome = "running";
  EXPECT_EQ(figure_of(rows)["title"]["subtitle"][1], "1 to 2 seeds per rate, 9 runs, laptop scale; 1 not ended");
  rows.back().outcome = "diverged";
  EXPECT_EQ(figure_of(rows)["title"]["subtitle"][2], "line: mean; band: min to max; ×: diverged or failed");
}

TEST(FigureLrWindow, TheSameRowsGiveTheSameBytes) {
  std::vector<ResultRow> rows = testing::three_mixers();
  const std::string forward = figure_of(rows).dump();
  std::reverse(rows.begin(), rows.end());
  EXPECT_EQ(figure_of(rows).dump(), forward);
}

TEST(FigureLrWindow, NoRunsIsAFigureThatSaysSo) {
  const Json figure = figure_of({});
  EXPECT_EQ(figure["data"]["values"][0]["text"], "no runs yet");
  EXPECT_FALSE(figure.contains("vconcat"));
}

}  // namespace
}  // namespace mneme::report
