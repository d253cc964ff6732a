#include "study/window_seeds.h"

#include <gtest/gtest.h>

namespace mneme::study {
namespace {

// One line a rate, three seeds: how many of them solve it.
SeedGrid grid_of(const std::vector<int>& solving) {
  SeedGrid grid;
  for (const int count : solving) {
    grid.positions.push_back(static_cast<double>(grid.positions.size()));
    grid.accuracy.emplace_back();
    for (int seed = 0; seed < 3; ++seed) grid.accuracy.back().push_back(seed < count ? 0.95 : 0.1);
  }
  return grid;
}

TEST(WindowSeeds, AllDrawsOfAFewSeedsAreTaken) {
  EXPECT_EQ(seed_draws(3).size(), 27u);
  EXPECT_EQ(seed_draws(5).size(), 3125u);
  EXPECT_EQ(seed_draws(6), seed_draws(6));
}

TEST(WindowSeeds, AgreeingSeedsAreSureAndOneThatDisagreesIsNot) {
  const SeedGrid wide = grid_of({0, 3, 3, 3, 0}), narrow = grid_of({0, 0, 3, 0, 0}), edge = grid_of({0, 3, 3, 2, 0});
  EXPECT_EQ(compare_windows(wide, narrow, {}).wider, 1);
  EXPECT_EQ(compare_windows(narrow, wide, {}).narrower, 1);
  EXPECT_EQ(compare_windows(wide, wide, {}).equal, 1);
  EXPECT_EQ(resample_seeds(wide, {}).width_error, 0);
  // The draw has two or three of the seed that fails in 7 of 27 cases.
  EXPECT_NEAR(compare_windows(wide, edge, {}).wider, 7.0 / 27, 1e-12);
  EXPECT_GT(resample_seeds(edge, {}).width_error, 0.3);
}

TEST(WindowSeeds, AnOpenEndIsABoundAndNoWindowTheNarrowest) {
  const SeedGrid closed = grid_of({0, 3, 3, 3, 0}), open = grid_of({0, 0, 0, 3, 3}), none = grid_of({0, 0, 0, 0, 0});
  EXPECT_EQ(compare_windows(closed, open, {}).wider, 0);
  EXPECT_EQ(compare_windows(closed, open, {}).unknown, 1);
  EXPECT_EQ(compare_windows(open, none, {}).wider, 1);
  EXPECT_EQ(compare_windows(none, closed, {}).narrower, 1);
  EXPECT_EQ(compare_windows(none, none, {}).equal, 1);
  EXPECT_EQ(compare_windows(grid_of({3, 3, 3, 3, 3}), closed, {}).at_least, 1);
}

}  // namespace
}  // namespace mneme::study
