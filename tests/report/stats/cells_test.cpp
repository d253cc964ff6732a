#include "report/stats/cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/figures/figure_accuracy_width.h"
#include "report/figures/figure_samples.h"
#include "support/expect_error.h"

namespace mneme::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::sample_row;

TEST(Cells, RowsAreSortedByPanelSeriesAndPoint) {
  const auto rows = testing::width_rows();
  const Cells cells = sort_into_cells(rows, {.panels = {"task.length", "model.layers"}, .points = {"model.width"}});
  EXPECT_THAT(cells.panels,
              ElementsAre("length 64, 1 layer", "length 64, 2 layers", "length 256, 1 layer", "length 256, 2 layers"));
  EXPECT_THAT(cells.series, ElementsAre("attention", "mamba"));  // pairs and batch follow from the length
  ASSERT_EQ(cells.cells.size(), 24u);
  EXPECT_EQ(cells.cells[0].point, std::vector<Json>{32});
  EXPECT_EQ(cells.cells[0].rates.size(), 5u);
  EXPECT_EQ(cells.cells[0].chosen().rate, 1e-3);
  EXPECT_EQ(cells.cells[0].rows.size(), 2u);
  EXPECT_EQ(cells.counts.runs, 240);
  EXPECT_EQ(cells.counts.most_seeds, 2u);
}

TEST(Cells, FieldsThatDoNotVaryMakeNoPanels) {
  const std::vector<ResultRow> rows{sample_row("gru", 1e-3, 1, 1), sample_row("gru", 1e-3, 2, 1, "running")};
  const Cells cells = sort_into_cells(rows, {.panels = {"task.length", "no.such"}, .points = {}});
  EXPECT_THAT(cells.panels, ElementsAre(""));
  EXPECT_EQ(cells.counts.runs, 1);
  EXPECT_EQ(cells.counts.left_out, 1);
}

TEST(Cells, AMarkStandsForTheNearestRateIfItIsNear) {
  const std::vector<ResultRow> rows{sample_row("m", 1e-4, 1, 0.3), sample_row("m", 5e-4, 1, 0.5),
                                    sample_row("m", 1e-3, 1, 0.9)};
  std::vector<const ResultRow*> pointers;
  for (const ResultRow& row : rows) pointers.push_back(&row);
  const auto points = rate_points(pointers);
  EXPECT_EQ(best_rate(points), 2u);
  EXPECT_EQ(best_marked_rate(points, {1e-4, 4.6e-4}), 1u);
  EXPECT_EQ(best_marked_rate(points, {1.1e-4}), 0u);
  EXPECT_EQ(best_marked_rate(points, {1e-2}), std::nullopt);
  EXPECT_EQ(best_marked_rate(points, {}), std::nullopt);
}

TEST(Cells, WrongRowsOfEachKindNameTheRun) {
  const auto message = [](const std::string& figure, ResultRow row) {
    row.run = "abc";
    return testing::error_of(ErrorKind::data, [&] { testing::build_sample({"wrong", figure, {row}}); });
  };
  ResultRow row = sample_row("gru", 1e-3, 1, 1);
  EXPECT_THAT(message("kind = \"width-depth\"", row), HasSubstr("[run abc] its summary has no parameters"));
  row.values["parameters"] = -3;
  EXPECT_THAT(message("kind = \"width-depth\"", row), HasSubstr("got -3"));
  row.config["model"]["width"] = "wide";
  EXPECT_THAT(message("kind = \"accuracy-width\"", row),
              HasSubstr("[run abc] model.width of its config, got \"wide\""));
  row.traces = {{{"input", {0, 1}}, {"target", {1, 0}}, {"output", {1}}}};
  EXPECT_THAT(message("kind = \"signal\"", row), HasSubstr("a trace of 2 inputs, 2 targets and 1 outputs"));
  row.traces = {{{"input", {0, "on"}}, {"target", {1, 0}}, {"output", {1, 0}}}};
  EXPECT_THAT(message("kind = \"signal\"", row), HasSubstr("input \"on\" in a trace"));
  row.traces = Json::array({3});
  EXPECT_THAT(message("kind = \"signal\"", row), HasSubstr("expected an object"));
  row.config["train"]["lr"] = -1;
  EXPECT_THAT(message("kind = \"dynamics\"", row), HasSubstr("train.lr"));
}

TEST(Cells, TheMedianSeedIsShown) {
  const FigureReport report = testing::build_sample({"s", "kind = \"signal\"", testing::signal_rows()});
  for (const auto& row : report.tables[0].table.rows) EXPECT_EQ(row[2], "2");
}

}  // namespace
}  // namespace mneme::report
