#include "report/stats/lr_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "report/sample_rows.h"
#include "study/window_search.h"

namespace mneme::report {
namespace {

using testing::sample_row;

// One series over `rates`; accuracies[i] are those of the seeds at rate i.
LrSeries series_of(const std::vector<double>& rates, const std::vector<std::vector<double>>& accuracies) {
  std::vector<ResultRow> rows;
  for (std::size_t i = 0; i < rates.size(); ++i)
    for (std::size_t seed = 0; seed < accuracies[i].size(); ++seed)
      rows.push_back(sample_row("m", rates[i], static_cast<int>(seed), accuracies[i][seed]));
  return find_lr_windows(rows).series.at(0);
}

const std::vector<double> kDecades{1e-5, 1e-4, 1e-3, 1e-2, 1e-1};

TEST(LrWindow, IsTheLongestStretchOfTrainableRates) {
  const LrSeries series = series_of(kDecades, {{0.95}, {0.1}, {0.95}, {0.99}, {0.1}});
  ASSERT_TRUE(series.window);
  EXPECT_EQ(series.window->lo, 1e-3);
  EXPECT_EQ(series.window->hi, 1e-2);
  EXPECT_EQ(series.window->rates, 2);
  EXPECT_NEAR(series.window->decades(), 1, 1e-12);
  EXPECT_FALSE(series.window->reaches_lowest);
  EXPECT_FALSE(series.window->reaches_highest);
  EXPECT_EQ(describe_width(series.window), "1.00");
  EXPECT_EQ(describe_range(series.window), "1e-3 to 1e-2");
  EXPECT_EQ(series.best, 3u);
}

TEST(LrWindow, NoneIfNoRateIsTrainable) {
  const LrSeries series = series_of(kDecades, {{0.1}, {0.2}, {0.89}, {0.1}, {0}});
  EXPECT_FALSE(series.window);
  EXPECT_EQ(describe_width(series.window), "none");
  EXPECT_EQ(describe_range(series.window), "none");
  EXPECT_EQ(series.best, 2u);
}

TEST(LrWindow, OneRateHasWidthZero) {
  const LrSeries series = series_of(kDecades, {{0.1}, {0.2}, {0.9}, {0.1}, {0}});
  ASSERT_TRUE(series.window);
  EXPECT_EQ(series.window->decades(), 0);
  EXPECT_EQ(describe_width(series.window), "0 (one rate)");
  EXPECT_EQ(describe_range(series.window), "1e-3");
}

TEST(LrWindow, AGridOfOneRate) {
  const LrSeries series = series_of({1e-3}, {{0.99, 0.98}});
  ASSERT_TRUE(series.window);
  EXPECT_TRUE(series.window->reaches_lowest);
  EXPECT_TRUE(series.window->reaches_highest);
  EXPECT_EQ(describe_width(series.window), "0 (one rate)");
}

TEST(LrWindow, AtTheEdgeOfTheGridItIsALowerBound) {
  const LrSeries low = series_of(kDecades, {{1}, {1}, {0}, {0}, {0}});
  EXPECT_TRUE(low.window->reaches_lowest);
  EXPECT_EQ(describe_width(low.window), "at least 1.00");
  const LrSeries high = series_of(kDecades, {{0}, {0}, {0}, {1}, {1}});
  EXPECT_TRUE(high.window->reaches_highest);
  EXPECT_EQ(describe_width(high.window), "at least 1.00");
}

TEST(LrWindow, WidthCountsInDecadesNotInRates) {
  // Three rates within a third of a decade against two that are a decade apart.
  const LrSeries series = series_of({1e-4, 1.5e-4, 2e-4, 1e-3, 1e-2, 1e-1}, {{1}, {1}, {1}, {0}, {1}, {1}});
  EXPECT_EQ(series.window->lo, 1e-2);
}

TEST(LrWindow, AmongEqualsTheLowerRates) {
  const LrSeries series = series_of(kDecades, {{0}, {1}, {0}, {1}, {0}});
  EXPECT_EQ(series.window->lo, 1e-4);
  EXPECT_EQ(series.best, 1u);
}

TEST(LrWindow, HalfOfTheSeedsIsEnoughAndLessIsNot) {
  EXPECT_TRUE(series_of({1e-3}, {{0.9, 0.1}}).window);
  EXPECT_FALSE(series_of({1e-3}, {{0.95, 0.1, 0.2}}).window);
  EXPECT_FALSE(series_of({1e-3}, {{0.899, 0.899}}).window);
}

TEST(LrWindow, SelectionIsOnValidationAndTestIsReported) {
  std::vector<ResultRow> rows{sample_row("m", 1e-3, 1, 0.95), sample_row("m", 1e-2, 1, 0.93)};
  rows[0].test_accuracy = 0.5;
  rows[1].test_accuracy = 0.99;
  const LrSeries series = find_lr_windows(rows).series.at(0);
  EXPECT_EQ(series.best, 0u);
  EXPECT_EQ(series.points[series.best].test.mean, 0.5);
  EXPECT_EQ(series.window->rates, 2);  // the window is on validation too
}

TEST(LrWindow, DivergedRunsCountWithTheirLastFiniteEvaluation) {
  std::vector<ResultRow> rows{sample_row("m", 1e-3, 1, 1.0), sample_row("m", 1e-3, 2, 0.5, "diverged"),
                              sample_row("m", 1e-3, 3, 0, "failed")};
  rows[2].validation_accuracy = std::numeric_limits<double>::quiet_NaN();
  const RatePoint point = find_lr_windows(rows).series.at(0).points.at(0);
  EXPECT_EQ(point.test.n, 3);
  EXPECT_DOUBLE_EQ(point.test.mean, 0.5);
  EXPECT_FALSE(point.trainable);
}

TEST(LrWindow, RunsThatHaveNotEndedAreLeftOut) {
  const std::vector<ResultRow> rows{sample_row("m", 1e-3, 1, 1.0), sample_row("m", 1e-3, 2, 0.1, "running"),
                                    sample_row("m", 1e-2, 2, 0.1, "planned")};
  const LrWindows windows = find_lr_windows(rows);
  EXPECT_EQ(windows.runs, 1);
  EXPECT_EQ(windows.left_out, 2);
  EXPECT_EQ(windows.series.at(0).points.size(), 1u);
}

TEST(LrWindow, NoRows) {
  EXPECT_TRUE(find_lr_windows({}).series.empty());
  EXPECT_EQ(find_lr_windows({}).runs, 0);
}

TEST(LrWindow, RowOrderDoesNotMatter) {
  std::vector<ResultRow> rows = testing::three_mixers();
  const LrWindows forward = find_lr_windows(rows);
  std::reverse(rows.begin(), rows.end());
  const LrWindows backward = find_lr_windows(rows);
  ASSERT_EQ(forward.series.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(forward.series[i].label, backward.series[i].label);
    for (std::size_t k = 0; k < forward.series[i].points.size(); ++k) {
      EXPECT_EQ(forward.series[i].points[k].test.mean, backward.series[i].points[k].test.mean);
      EXPECT_EQ(forward.series[i].points[k].seeds[0].run, backward.series[i].points[k].seeds[0].run);
    }
  }
}

TEST(LrWindow, WidthsAreNotAveragedTogether) {
  std::vector<ResultRow> rows{sample_row("m", 1e-3, 1, 1.0), sample_row("m", 1e-3, 1, 0.0)};
  rows[1].config["model"]["width"] = 16;
  EXPECT_EQ(find_lr_windows(rows).series.size(), 2u);
}

// Of three seeds the budget left one good and one bad: neither the search nor the report may call that trainable.
TEST(LrWindow, SearchAndReportAgreeWhereTheBudgetEnded) {
  const std::vector<std::vector<double>> accuracies{{0.1, 0.1}, {0.95, 0.95}, {0.95, 0.2}};
  const std::vector<double> rates{1e-4, 1e-3, 1e-2};
  std::vector<ResultRow> rows;
  study::CellResults known;
  for (std::size_t rate = 0; rate < rates.size(); ++rate)
    for (std::size_t seed = 0; seed < 2; ++seed) {
      rows.push_back(sample_row("m", rates[rate], static_cast<int>(seed), accuracies[rate][seed]));
      known[{rate, seed}] = accuracies[rate][seed];
    }
  const auto found = study::WindowSearch(3, 3, {}, 6).window(known);
  const LrSeries series = find_lr_windows(rows, {{}, 3}).series.at(0);
  ASSERT_TRUE(found);
  ASSERT_TRUE(series.window);
  EXPECT_EQ(rates[found->lo], series.window->lo);
  EXPECT_EQ(rates[found->hi], series.window->hi);
  EXPECT_EQ(series.window->hi, 1e-3);
  EXPECT_FALSE(series.points[2].trainable);
  EXPECT_FALSE(found->hi_is_sharp) << "the rate above is undecided";
}

}  // namespace
}  // namespace mneme::report
