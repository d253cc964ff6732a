#include "report/format.h"

#include <gtest/gtest.h>

#include <limits>

namespace mneme {
namespace {

TEST(Format, Rates) {
  EXPECT_EQ(format_rate(1e-3), "1e-3");
  EXPECT_EQ(format_rate(0.0031622776601683795), "3.16e-3");
  EXPECT_EQ(format_rate(3e-4), "3e-4");
  EXPECT_EQ(format_rate(0.25), "2.5e-1");
  EXPECT_EQ(format_rate(1), "1e0");
  EXPECT_EQ(format_rate(9.999e-4), "1e-3");
  EXPECT_EQ(format_rate(1e-12), "1e-12");
}

TEST(Format, Percentages) {
  EXPECT_EQ(format_percent(0.98765), "98.8");
  EXPECT_EQ(format_percent(0), "0.0");
  EXPECT_EQ(format_percent(1), "100.0");
  EXPECT_EQ(format_percent(std::numeric_limits<double>::quiet_NaN()), "-");
}

}  // namespace
}  // namespace mneme
