#include "report/stats/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"

namespace mneme::report {
namespace {

TEST(Statistics, KnownValues) {
  const Summary summary = summarize(std::vector<double>{0.2, 1.0, 0.6, 0.9}, 0.9);
  EXPECT_EQ(summary.n, 4);
  EXPECT_DOUBLE_EQ(summary.mean, 0.675);
  // Deviations -0.475, -0.075, 0.225, 0.325: squares sum to 0.3875; sqrt(0.3875 / 3 / 4).
  EXPECT_NEAR(summary.standard_error, 0.179699, 1e-6);
  EXPECT_DOUBLE_EQ(summary.min, 0.2);
  EXPECT_DOUBLE_EQ(summary.max, 1.0);
  EXPECT_DOUBLE_EQ(summary.median, 0.75);
  EXPECT_DOUBLE_EQ(summary.success_rate, 0.5);  // 0.9 itself succeeds
}

TEST(Statistics, OneValueHasNoStandardError) {
  const Summary summary = summarize(std::vector<double>{0.5}, 0.9);
  EXPECT_EQ(summary.n, 1);
  EXPECT_EQ(summary.mean, 0.5);
  EXPECT_EQ(summary.median, 0.5);
  EXPECT_TRUE(std::isnan(summary.standard_error));
  EXPECT_EQ(summary.success_rate, 0);
}

TEST(Statistics, ConfidenceIntervalsAreStudents) {
  // Tables of Student's distribution.
  for (const auto& [degrees, t] :
       std::vector<std::pair<int, double>>{{1, 12.7062}, {2, 4.30265}, {3, 3.18245}, {4, 2.77645}, {30, 2.04227}})
    EXPECT_NEAR(student_t95(degrees), t, 1e-5) << degrees;
  EXPECT_NEAR(student_t95(10000), 1.96020, 1e-5);
  const auto interval = confidence_interval(summarize(std::vector<double>{0.2, 1.0, 0.6, 0.9}, 0.9));
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 0.675 - 3.18245 * 0.179699, 1e-5);
  EXPECT_NEAR(interval->high, 0.675 + 3.18245 * 0.179699, 1e-5);
  const auto share = share_interval(summarize(std::vector<double>{0.2, 1.0, 0.6, 0.9}, 0.9));
  EXPECT_EQ(share->high, 1);
  EXPECT_FALSE(confidence_interval(summarize(std::vector<double>{0.5}, 0.9)));
}

TEST(Statistics, MedianOfAnOddNumberIsTheMiddleOne) {
  EXPECT_EQ(summarize(std::vector<double>{0.9, 0.1, 0.3}, 0.9).median, 0.3);
}

TEST(Statistics, OrderDoesNotChangeABit) {
  // In the order given the first sum loses 1e-17 and the last does not.
  const Summary a = summarize(std::vector<double>{1.0, 1e-16, 1e-16, 0.3}, 0.9);
  const Summary b = summarize(std::vector<double>{1e-16, 0.3, 1e-16, 1.0}, 0.9);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.standard_error, b.standard_error);
}

TEST(Statistics, NothingAndNaNAreRefused) {
  EXPECT_THROW(summarize({}, 0.9), Error);
  EXPECT_THROW(summarize(std::vector<double>{1, std::numeric_limits<double>::quiet_NaN()}, 0.9), Error);
  EXPECT_THROW(summarize(std::vector<double>{std::numeric_limits<double>::infinity()}, 0.9), Error);
}

}  // namespace
}  // namespace mneme::report
