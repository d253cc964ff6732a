#include "report/stats/paired.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/sample_rows.h"

namespace mneme::report {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::sample_row;

// Two mixers whose seeds go up and down together.
const std::vector<ResultRow> kRows{sample_row("a", 1e-3, 1, 0.9),  sample_row("a", 1e-3, 2, 0.5),
                                   sample_row("a", 1e-3, 3, 0.7),  sample_row("b", 1e-3, 1, 0.8),
                                   sample_row("b", 1e-3, 2, 0.42), sample_row("b", 1e-3, 3, 0.58)};

TEST(Paired, DifferencesOfEqualSeedsByHand) {
  const LrWindows windows = find_lr_windows(kRows);
  const auto differences = paired_differences(windows);
  ASSERT_EQ(differences.size(), 2u) << "at the rate they share, and at their best ones";
  const Summary& difference = differences[0].difference;
  EXPECT_EQ(differences[0].first, "a");
  EXPECT_EQ(differences[0].second, "b");
  EXPECT_EQ(difference.n, 3);
  // 0.10, 0.08, 0.12: mean 0.1, deviations 0, -0.02, 0.02; sqrt(0.0008 / 2 / 3).
  EXPECT_NEAR(difference.mean, 0.1, 1e-12);
  EXPECT_NEAR(difference.standard_error, 0.0115470, 1e-7);
  // Of two independent means it would be sqrt(0.115470^2 + 0.110151^2) = 0.159583.
  EXPECT_NEAR(
      std::hypot(windows.series[0].points[0].test.standard_error, windows.series[1].points[0].test.standard_error),
      0.159583, 1e-6);
}

TEST(Paired, OnlySeedsThatBothHaveOnceArePairs) {
  std::vector<ResultRow> rows = kRows;
  rows.push_back(sample_row("a", 1e-3, 4, 0.0));
  rows.push_back(sample_row("b", 1e-3, 5, 0.0));
  rows.push_back(sample_row("b", 1e-3, 3, 0.1));
  const auto differences = paired_differences(find_lr_windows(rows));
  EXPECT_EQ(differences[0].difference.n, 2);
  EXPECT_NEAR(differences[0].difference.mean, 0.09, 1e-12);
}

TEST(Paired, RatesAreMatchedAndTheBestOnesComeLast) {
  std::vector<ResultRow> rows = kRows;
  rows.push_back(sample_row("a", 1e-2, 1, 1.0));
  rows.push_back(sample_row("b", 1e-1, 1, 0.1));
  const auto differences = paired_differences(find_lr_windows(rows));
  ASSERT_EQ(differences.size(), 2u) << "1e-2 and 1e-1 have no partner";
  EXPECT_FALSE(differences[0].at_best_rates);
  EXPECT_TRUE(differences[1].at_best_rates);
  EXPECT_EQ(differences[1].first_rate, 1e-2);
  EXPECT_EQ(differences[1].second_rate, 1e-3);
  EXPECT_EQ(differences[1].difference.n, 1);
  EXPECT_NEAR(differences[1].difference.mean, 0.2, 1e-12);
  EXPECT_TRUE(std::isnan(differences[1].difference.standard_error));

  const Table table = paired_table(differences);
  EXPECT_THAT(table.rows[0], ElementsAre("a", "b", "1e-3", "3", "+10.0", "1.2", "+5.0 to +15.0"));
  EXPECT_THAT(table.rows[1], ElementsAre("a", "b", "best: 1e-2, 1e-3", "1", "+20.0", "-", "-"));
}

TEST(Paired, OneSeriesHasNobodyToCompareWith) {
  EXPECT_THAT(paired_differences(find_lr_windows(testing::demo_like())), IsEmpty());
  EXPECT_EQ(paired_differences(find_lr_windows(testing::three_mixers())).size(), 3u * (7 + 1));
}

}  // namespace
}  // namespace mneme::report
