#include "report/pages/tables_lr_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/figures/lr_window_kind.h"
#include "report/pages/tables_runs.h"
#include "report/sample_rows.h"

namespace mneme::report {
namespace {

using ::testing::ElementsAre;
using testing::sample_row;

TEST(TablesLrWindow, WindowTable) {
  const std::vector<ResultRow> rows{sample_row("m", 1e-3, 1, 0.96), sample_row("m", 1e-3, 2, 1.0),
                                    sample_row("m", 1e-2, 1, 0.1), sample_row("m", 1e-2, 2, 0.1),
                                    sample_row("z", 1e-3, 1, 0.2)};
  const Table table = window_table(find_lr_windows(rows));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_THAT(table.rows[0], ElementsAre("m", "1e-3", "0 (one rate)", "0.00", "0.00 to 0.00", "-", "-", "-", "1e-3",
                                         "98.0 ± 2.0", "98.0 ± 2.0", "72.6 to 100.0", "2"));
  EXPECT_THAT(table.rows[1],
              ElementsAre("z", "none", "none", "-", "-", "-", "-", "-", "1e-3", "20.0", "20.0", "-", "1"));
}

// The whole of a run's curve is in its line: what a half of the budget would have found, and how much the rate matters.
TEST(TablesLrWindow, WindowsAtPartsOfTheBudgetAndSensitivity) {
  std::vector<ResultRow> rows;
  for (const int seed : {1, 2, 3})
    for (const double rate : {1e-3, 1e-2}) {
      ResultRow& row = rows.emplace_back(sample_row("m", rate, seed, 0.99));
      row.config["train"]["steps"] = 1000;
      row.steps = 1000;
      row.initial_loss = 4;
      // The higher rate is solved by half of the budget, the lower one at its end.
      row.metrics = {{.step = 250, .train_loss = 4, .loss = 4, .accuracy = 0.1},
                     {.step = 500, .train_loss = 2, .loss = 2, .accuracy = rate > 5e-3 ? 0.95 : 0.4},
                     {.step = 1000, .train_loss = 1, .loss = rate > 5e-3 ? 1.0 : 2.0, .accuracy = 0.99}};
    }
  const Table table = window_table(find_lr_windows(rows));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0][1], "1e-3 to 1e-2");
  EXPECT_EQ(table.rows[0][5], "1e-2");
  EXPECT_EQ(table.rows[0][6], "none");
  EXPECT_EQ(table.rows[0][7], "0.50 ± 0.00");
}

TEST(TablesLrWindow, ComparisonSaysHowSureItIs) {
  const Table table = comparison_table(find_lr_windows(testing::three_mixers()));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[1][0], "attention");
  EXPECT_EQ(table.rows[1][1], "mamba");
  EXPECT_EQ(table.rows[1][4], "100") << "attention is wider than mamba in every draw";
}

// The width's uncertainty was in `mneme window` and not in a report, whose headline it is; the difference of two
// windows had no interval.
TEST(TablesLrWindow, TheHeadlineHasTheUncertainty) {
  const FigureReport report = lr_window_kind().build(
      testing::three_mixers(), {.name = "s", .title = "S", .scale = "", .chance = {}, .paper = {}},
      defaults(lr_window_kind().options, "figure"));
  ASSERT_EQ(report.findings.size(), 6u) << "three windows and three differences";
  EXPECT_THAT(report.findings[0],
              ::testing::ContainsRegex("decades wide \\(± [0-9.]+ over seeds, 95 % from [0-9.]+ to"));
  EXPECT_THAT(report.findings[4], ::testing::ContainsRegex(
                                      "attention: its window is [0-9.]+ decades wider than that of mamba \\(difference "
                                      ".[0-9.]+, 95 % from .[0-9.]+ to .[0-9.]+"));
  EXPECT_EQ(report.data["compared"].size(), 3u);
  EXPECT_TRUE(report.data["compared"][0]["decades_95"].is_array());
}

TEST(TablesLrWindow, OneSeedSaysNothingOfTheUncertainty) {
  std::vector<ResultRow> rows;
  for (const double rate : {1e-3, 1e-2, 1e-1}) rows.push_back(sample_row("m", rate, 1, rate < 5e-2 ? 0.99 : 0.1));
  const FigureReport report =
      lr_window_kind().build(rows, {.name = "s", .title = "S", .scale = "", .chance = {}, .paper = {}},
                             defaults(lr_window_kind().options, "figure"));
  EXPECT_THAT(report.findings[0], ::testing::HasSubstr("(one seed: its uncertainty is not known)"));
  Records records;
  add_window_records(records, "", find_lr_windows(rows));
  EXPECT_TRUE(records[0]["window_decades_ci95_low"].is_null());
  EXPECT_DOUBLE_EQ(records[0]["window_decades"].get<double>(), 1);
}

TEST(TablesLrWindow, RateTableHasALineForEachRate) {
  const Table table = rate_table(find_lr_windows(testing::three_mixers()));
  EXPECT_EQ(table.rows.size(), 21u);
  EXPECT_EQ(table.rows[0].size(), table.columns.size());
  EXPECT_EQ(table.rows[0][2], "3");
}

TEST(TablesLrWindow, RunTableListsEveryRunSorted) {
  std::vector<ResultRow> rows{sample_row("z", 1e-2, 1, 0.2, "running"), sample_row("a", 1e-2, 1, 0.2),
                              sample_row("a", 1e-3, 1, 0.5, "failed")};
  rows[0].validation_accuracy.reset();
  rows[2].reason = "out of memory";
  const Table table = run_table(rows);
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_THAT(table.rows[0],
              ElementsAre(rows[2].run, "a", "1e-3", "1", "failed: out of memory", "50.0", "-", "1,000", ::testing::_));
  EXPECT_EQ(table.rows[1][0], rows[1].run);
  EXPECT_THAT(table.rows[2],
              ElementsAre(rows[0].run, "z", "1e-2", "1", "running", "-", "-", ::testing::_, ::testing::_));
}

}  // namespace
}  // namespace mneme::report
