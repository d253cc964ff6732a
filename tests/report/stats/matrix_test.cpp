#include "report/stats/matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/figures/figure_samples.h"
#include "support/expect_error.h"

namespace mneme::report {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

Matrix matrix_of(const std::vector<ResultRow>& rows, const std::string& figure, const std::string& paper = "") {
  const FigureRequest request = figure_requests({parse_toml("kind = \"matrix\"\n" + figure, "m.toml")}).front();
  const std::vector<study::PaperValue> values = testing::paper_values(paper);
  return make_matrix(rows, {.name = "m", .title = "M", .scale = "", .chance = {}, .paper = values}, request.options);
}

std::vector<ResultRow> seeds(const std::vector<double>& accuracies) {
  std::vector<ResultRow> rows;
  for (const double accuracy : accuracies)
    rows.push_back(testing::sample_row("gru", 1e-3, static_cast<int>(rows.size()), accuracy));
  return rows;
}

TEST(Matrix, MeanAndShareAreDifferentRules) {
  const auto rows = seeds({1.0, 1.0, 0.1});
  EXPECT_FALSE(matrix_of(rows, "").cells.at({0, 0}).passes);
  EXPECT_TRUE(matrix_of(rows, "share = 0.6").cells.at({0, 0}).passes);
  EXPECT_FALSE(matrix_of(rows, "share = 0.7").cells.at({0, 0}).passes);
  EXPECT_TRUE(matrix_of(rows, "threshold = 0.7").cells.at({0, 0}).passes);
}

TEST(Matrix, ColumnsAreFieldsMetricsAndValuesOfTheAxis) {
  const Matrix phases = matrix_of(testing::matrix_rows(),
                                  "columns = \"model.width\"\nmetrics = [\"phases.two_isi\", \"phases.double_isi\"]");
  EXPECT_THAT(phases.columns,
              ElementsAre("width 8, two isi", "width 8, double isi", "width 64, two isi", "width 64, double isi"));
  EXPECT_THAT(phases.models, ElementsAre("gru", "lstm", "rnn", "transformer"));
  EXPECT_EQ(phases.cells.at({0, 2}).summary.mean, 0.6);  // three of five
  const Matrix along = matrix_of(testing::extrapolation_rows(),
                                 "metrics = \"generalisation.accuracy\"\n"
                                 "columns = \"model.layers\"");
  ASSERT_EQ(along.columns.size(), 20u);
  EXPECT_EQ(along.columns[0], "1 layer, blanks 50");
  EXPECT_THAT(matrix_of(seeds({1}), "").columns, ElementsAre("test accuracy"));
}

TEST(Matrix, ThePapersVerdictStandsBesideOurs) {
  const auto rows = seeds({1.0, 1.0});
  const MatrixCell same = matrix_of(rows, "", "[[paper]]\nmodel.mixer = \"gru\"\nvalue = 0.95").cells.at({0, 0});
  EXPECT_EQ(same.paper, true);
  EXPECT_EQ(same.paper_text, "95.0");
  const MatrixCell other = matrix_of(rows, "", "[[paper]]\nmodel.mixer = \"gru\"\npasses = false").cells.at({0, 0});
  EXPECT_EQ(other.paper, false);
  EXPECT_EQ(other.paper_text, "✗");
  EXPECT_EQ(matrix_of(rows, "", "[[paper]]\nmodel.mixer = \"lstm\"\npasses = true").cells.at({0, 0}).paper,
            std::nullopt);
}

TEST(Matrix, RunsThatDivergedCountZeroAndMissingNumbersDoNotCount) {
  auto rows = testing::matrix_rows();
  for (ResultRow& row : rows) row.values.erase("phases");
  EXPECT_TRUE(matrix_of(rows, "metrics = \"phases.two_isi\"").cells.empty());
  rows[0].outcome = "diverged";
  const Matrix matrix = matrix_of(rows, "metrics = \"phases.two_isi\"");
  ASSERT_EQ(matrix.cells.size(), 1u);
  EXPECT_EQ(matrix.cells.begin()->second.summary.mean, 0);
}

TEST(Matrix, AMetricThatIsNoNumberNamesTheRun) {
  auto rows = seeds({1.0});
  rows[0].run = "abc";
  rows[0].values["phases"]["two_isi"] = "yes";
  EXPECT_THAT(error_of(ErrorKind::data, [&] { matrix_of(rows, "metrics = \"phases.two_isi\""); }),
              HasSubstr("[run abc] phases.two_isi of its summary, got \"yes\", expected a number, true or false"));
}

TEST(Matrix, TheRateIsChosenOnValidation) {
  auto rows = seeds({0.2});
  rows.push_back(testing::sample_row("gru", 1e-2, 9, 0.95));
  rows[0].test_accuracy = 1.0;  // better on test, worse on validation
  EXPECT_EQ(matrix_of(rows, "").cells.at({0, 0}).summary.mean, 0.95);
}

}  // namespace
}  // namespace mneme::report
