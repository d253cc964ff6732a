#include "report/stats/generalisation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/figures/figure_samples.h"
#include "support/expect_error.h"

namespace mneme::report {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

ResultRow tested(const Json& points) {
  ResultRow row = testing::sample_row("gru", 1e-3, 1, 1);
  row.run = "abc";
  row.config["task"]["blanks"] = {10, 50, 30};
  row.values["generalisation"] = {{"axis", "blanks"}, {"points", points}};
  return row;
}

TEST(Generalisation, PointsAreReadByValue) {
  const ResultRow row = tested({{{"value", 100}, {"accuracy", 0.5}}, {{"value", 50}, {"accuracy", 1.0}}});
  EXPECT_EQ(generalisation_axis(row), "blanks");
  EXPECT_EQ(generalisation_points(row, "accuracy"), (std::map<double, double>{{50, 1.0}, {100, 0.5}}));
  EXPECT_EQ(trained_up_to(row, "blanks"), 50);
  EXPECT_EQ(trained_up_to(row, "length"), 32);
  EXPECT_EQ(trained_up_to(row, "nothing"), std::nullopt);
}

TEST(Generalisation, WrongRowsNameTheRun) {
  const auto message = [](const Json& points) {
    return error_of(ErrorKind::data, [&] { generalisation_points(tested(points), "accuracy"); });
  };
  EXPECT_THAT(message({{{"value", "far"}, {"accuracy", 1}}}),
              HasSubstr("[run abc] value of values.generalisation, got \"far\""));
  EXPECT_THAT(message({{{"value", 50}, {"accuracy", 1.5}}}), HasSubstr("got 1.5, expected a number from 0 to 1"));
  EXPECT_THAT(message({{{"value", 50}, {"accuracy", -0.1}}}), HasSubstr("got -0.1"));
  EXPECT_THAT(message({{{"value", 50}, {"loss", 1}}}), HasSubstr("accuracy of values.generalisation"));
  EXPECT_THAT(message({{{"value", 50}, {"accuracy", 1}}, {{"value", 50}, {"accuracy", 1}}}),
              HasSubstr("each value once"));
  EXPECT_THAT(message("all"), HasSubstr("expected a list"));
  ResultRow row = tested(Json::array());
  row.values["generalisation"]["axis"] = 3;
  EXPECT_THAT(error_of(ErrorKind::data, [&] { generalisation_axis(row); }), HasSubstr("expected a name"));
}

TEST(Generalisation, WhatWasNotFiniteIsZero) {
  EXPECT_EQ(generalisation_points(tested({{{"value", 50}, {"accuracy", nullptr}}}), "accuracy").at(50), 0);
}

TEST(Generalisation, ADivergedRunCountsZeroAndAnUntestedOneNot) {
  const ResultRow good = tested({{{"value", 50}, {"accuracy", 1.0}}});
  ResultRow other = good;
  other.values = Json::object();
  EXPECT_EQ(generalisation_summary({&good, &other}, "accuracy", 0.9).at(50).mean, 1.0);
  other.outcome = "diverged";
  const Summary summary = generalisation_summary({&good, &other}, "accuracy", 0.9).at(50);
  EXPECT_EQ(summary.mean, 0.5);
  EXPECT_EQ(summary.n, 2);
}

}  // namespace
}  // namespace mneme::report
