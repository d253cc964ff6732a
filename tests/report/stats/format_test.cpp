#include "report/stats/format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace mneme::report {
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

TEST(Format, LabelsAreSortedAsAPersonWould) {
  std::vector<std::string> labels{"mamba, width 128", "mamba, width 8", "attention",
                                  "mamba, width 16",  "mamba",          "rwkv4"};
  std::sort(labels.begin(), labels.end(), LabelOrder{});
  EXPECT_EQ(labels, (std::vector<std::string>{"attention", "mamba", "mamba, width 8", "mamba, width 16",
                                              "mamba, width 128", "rwkv4"}));
  EXPECT_FALSE(LabelOrder{}("a 1", "a 1"));
}

}  // namespace
}  // namespace mneme::report
