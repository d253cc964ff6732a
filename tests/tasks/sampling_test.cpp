#include "tasks/sampling.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

using testing::chi_square_deviation;
using testing::uniform_deviation;

RC_GTEST_PROP(SampleDistinct, GivesDistinctIntegersInRange, ()) {
  const auto range = *rc::gen::inRange(1, 300);
  const auto count = *rc::gen::inRange(0, range + 1);
  const auto first = *rc::gen::inRange(-50, 50);
  Random random(1, *rc::gen::arbitrary<std::uint32_t>());
  std::vector<std::int32_t> out(static_cast<std::size_t>(count));
  sample_distinct(random, first, first + range - 1, out);
  RC_ASSERT(std::set<std::int32_t>(out.begin(), out.end()).size() == out.size());
  for (const std::int32_t value : out) RC_ASSERT(value >= first && value < first + range);
}

// Few of many (rejection) and many of few (shuffling): every ordered pair is equally likely.
TEST(SampleDistinct, EveryOrderedSelectionIsEquallyLikely) {
  for (const std::int32_t range : {3, 6}) {
    std::map<std::vector<std::int32_t>, double> counts;
    for (std::uint64_t i = 0; i < 60'000; ++i) {
      Random random(5, i);
      std::vector<std::int32_t> out(2);
      sample_distinct(random, 0, range - 1, out);
      ++counts[out];
    }
    ASSERT_EQ(counts.size(), static_cast<std::size_t>(range * (range - 1)));
    std::vector<double> flat;
    for (const auto& [selection, count] : counts) flat.push_back(count);
    EXPECT_LT(std::abs(uniform_deviation(flat)), 5) << range;
  }
}

TEST(ScatterInOrder, EveryPlaceIsEquallyLikelyAndTheOrderKept) {
  const std::vector<std::int32_t> data = {1, 2, 3};
  std::vector<double> counts(10);
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    Random random(6, i);
    std::vector<std::int32_t> places(10, 0), seen;
    scatter_in_order(random, data, places);
    for (std::size_t at = 0; at < places.size(); ++at) {
      if (places[at] == 0) continue;
      ++counts[at];
      seen.push_back(places[at]);
    }
    ASSERT_EQ(seen, data);
  }
  EXPECT_LT(std::abs(uniform_deviation(counts)), 5);
}

// Against the exact probability of each pair: w_i / W * w_j / (W - w_i).
TEST(WeightedPlaces, DrawsInProportionAmongThoseLeft) {
  const std::vector<double> weights = {5, 1, 3, 0.5};
  const WeightedPlaces places(weights);
  std::map<std::pair<int, int>, double> counts;
  constexpr int kDraws = 100'000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    Random random(7, i);
    std::vector<std::int32_t> out(2);
    places.draw(random, out);
    ++counts[{out[0], out[1]}];
  }
  std::vector<double> found, expected;
  const double total = 9.5;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      if (i == j) continue;
      const double first = weights[static_cast<std::size_t>(i)], second = weights[static_cast<std::size_t>(j)];
      found.push_back(counts[{i, j}]);
      expected.push_back(kDraws * first / total * second / (total - first));
    }
  EXPECT_LT(std::abs(chi_square_deviation(found, expected)), 5);
}

RC_GTEST_PROP(WeightedPlaces, AllPlacesComeOnceWhenAllAreDrawn, ()) {
  const auto weights =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(rc::gen::element(1e-9, 0.3, 1.0, 1e6)));
  Random random(8, 0);
  std::vector<std::int32_t> out(weights.size());
  WeightedPlaces(weights).draw(random, out);
  std::sort(out.begin(), out.end());
  for (std::size_t i = 0; i < out.size(); ++i) RC_ASSERT(out[i] == static_cast<std::int32_t>(i));
}

TEST(UniformBetween, ReachesBothEnds) {
  std::vector<double> counts(4);
  Random random(9, 0);
  for (int i = 0; i < 40'000; ++i) ++counts.at(static_cast<std::size_t>(uniform_between(random, 3, 6) - 3));
  EXPECT_LT(std::abs(uniform_deviation(counts)), 5);
}

}  // namespace
}  // namespace mneme::tasks
