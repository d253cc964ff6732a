#include "report/figures/figure_style.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/error.h"

namespace mneme::report {
namespace {

TEST(FigureStyle, AxisLabelsPowersOfTen) {
  const LogAxis axis = log_axis({1e-4, 1e-3, 1e-2, 1e-1}, "Learning rate");
  EXPECT_EQ(axis.scale["type"], "log");
  EXPECT_LT(axis.lo, 1e-4);
  EXPECT_GT(axis.hi, 1e-1);
  EXPECT_EQ(axis.axis["labelExpr"],
            "indexof([0.0001,0.001,0.01,0.1], datum.value) >= 0 ? format(datum.value, '.0e') : ''");
  const Json values = axis.axis["values"];
  EXPECT_NE(std::find(values.begin(), values.end(), Json(0.0002)), values.end());
}

TEST(FigureStyle, ANarrowAxisLabelsOneTwoAndFive) {
  const LogAxis axis = log_axis({2e-3, 4e-3}, "x");
  EXPECT_EQ(axis.axis["labelExpr"], "indexof([0.002], datum.value) >= 0 ? format(datum.value, '.0e') : ''");
  const LogAxis single = log_axis({1e-3}, "x");
  EXPECT_EQ(single.axis["labelExpr"],
            "indexof([0.0005,0.001,0.002], datum.value) >= 0 ? format(datum.value, '.0e') : ''");
}

// The last gradients of a run that diverged: labels of 40 decades would cover each other.
TEST(FigureStyle, AnAxisOverManyDecadesLabelsFewOfThem) {
  const LogAxis axis = log_axis({3e-35, 2.0}, "x");
  EXPECT_EQ(axis.axis["labelExpr"],
            "indexof([1e-35,1e-30,1e-25,1e-20,1e-15,1e-10,1e-05,1.0], datum.value) >= 0 ? format(datum.value, '.0e') : "
            "''");
  for (const Json& value : axis.axis["values"])
    EXPECT_NEAR(std::remainder(std::log10(value.get<double>()), 1), 0, 1e-9);
}

TEST(FigureStyle, ALogAxisNeedsPositiveValues) {
  EXPECT_THROW(log_axis({}, "x"), Error);
  EXPECT_THROW(log_axis({0.0, 1.0}, "x"), Error);
}

TEST(FigureStyle, FortyTwoSeriesAreAllDifferent) {
  std::vector<std::string> labels;
  for (int i = 0; i < 42; ++i) labels.push_back(std::to_string(i));
  const Json colors = color_scale(labels);
  const Json shapes = shape_scale(labels);
  EXPECT_EQ(colors["domain"].size(), 42u);
  std::set<std::pair<std::string, std::string>> looks;
  for (std::size_t i = 0; i < 42; ++i) looks.emplace(colors["range"][i], shapes["range"][i]);
  EXPECT_EQ(looks.size(), 42u);
}

TEST(FigureStyle, WrapsAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 7), Json({"one two", "three"}));
  EXPECT_EQ(wrapped("≥≥ ≥≥≥", 6), Json::array({"≥≥ ≥≥≥"}));
  EXPECT_EQ(wrapped("unbreakable", 4), Json::array({"unbreakable"}));
  EXPECT_EQ(wrapped("", 4), Json::array());
}

TEST(FigureStyle, LegendTakesMoreLinesWhenLabelsAreLong) {
  EXPECT_EQ(legend_columns({"attention", "hyena", "mamba"}), 3);
  EXPECT_EQ(legend_columns(std::vector<std::string>(12, "gated_deltanet")), 2);
  EXPECT_EQ(legend_columns({std::string(500, 'x')}), 1);
  EXPECT_EQ(legend_columns({}), 1);
}

}  // namespace
}  // namespace mneme::report
