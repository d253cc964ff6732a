#include "study/window_search.h"

#include <gtest/gtest.h>

#include <functional>

#include "core/random.h"
#include "study/window_seeds.h"

namespace mneme::study {
namespace {

struct Outcome {
  std::optional<Window> window;
  std::size_t spent = 0;
};

using Truth = std::function<double(std::size_t rate, std::size_t seed)>;

Outcome run_search(std::size_t rates, std::size_t seeds, const WindowRule& rule, std::size_t budget,
                   const Truth& truth) {
  const WindowSearch searcher(rates, seeds, rule, budget);
  CellResults known;
  for (auto wanted = searcher.next(known); !wanted.empty(); wanted = searcher.next(known))
    for (const Cell& cell : wanted) {
      EXPECT_FALSE(known.contains(cell)) << "a cell twice";
      known[cell] = truth(cell.first, cell.second);
    }
  return {searcher.window(known), known.size()};
}

Window full_grid(std::size_t rates, std::size_t seeds, const WindowRule& rule, const Truth& truth) {
  const WindowSearch searcher(rates, seeds, rule, rates * seeds);
  CellResults known;
  for (std::size_t rate = 0; rate < rates; ++rate)
    for (std::size_t seed = 0; seed < seeds; ++seed) known[{rate, seed}] = truth(rate, seed);
  return searcher.window(known).value();
}

TEST(WindowSearch, AgreesWithTheGridForHalfOfItsRuns) {
  int cases = 0;
  double most = 0;
  for (const std::size_t rates : {13, 19, 25})
    for (std::size_t lo = 0; lo < rates; ++lo)
      for (std::size_t hi = lo + rates / 4; hi < rates; ++hi) {
        const Truth truth = [&](std::size_t rate, std::size_t) { return rate >= lo && rate <= hi ? 0.95 : 0.3; };
        const std::size_t budget = rates * 3 / 2;
        const Outcome found = run_search(rates, 3, {}, budget, truth);
        ASSERT_TRUE(found.window) << rates << " " << lo << " " << hi;
        EXPECT_EQ(found.window->lo, lo) << rates << " " << lo << " " << hi;
        EXPECT_EQ(found.window->hi, hi) << rates << " " << lo << " " << hi;
        EXPECT_TRUE(found.window->lo_is_sharp && found.window->hi_is_sharp);
        EXPECT_LE(found.spent, budget);
        most = std::max(most, static_cast<double>(found.spent) / static_cast<double>(rates * 3));
        ++cases;
      }
  std::printf("%d windows, at most %.0f %% of the grid's runs\n", cases, 100 * most);
}

TEST(WindowSearch, FindsANarrowWindowBetweenItsFirstRates) {
  const Truth truth = [](std::size_t rate, std::size_t) {
    return rate == 6 ? 0.95 : rate == 5 || rate == 7 ? 0.6 : 0.1;
  };
  const Outcome found = run_search(13, 3, {}, 39, truth);
  ASSERT_TRUE(found.window);
  EXPECT_EQ(found.window->lo, 6u);
  EXPECT_EQ(found.window->hi, 6u);
}

TEST(WindowSearch, WithoutAWindowItEndsWithinItsBudget) {
  const Outcome none = run_search(13, 3, {}, 19, [](std::size_t, std::size_t) { return 0.1; });
  EXPECT_FALSE(none.window);
  EXPECT_LE(none.spent, 19u);
}

TEST(WindowSearch, ARateIsDecidedBeforeItsLastSeedWherePossible) {
  const WindowSearch searcher(13, 5, {.threshold = 0.9, .share = 0.6}, 65);
  CellResults known{{{0, 0}, 1.0}, {{0, 1}, 1.0}};
  EXPECT_EQ(searcher.trainable(0, known), std::nullopt);
  known[{0, 2}] = 1.0;
  EXPECT_EQ(searcher.trainable(0, known), true);
  CellResults bad{{{0, 0}, 0.1}, {{0, 1}, 0.1}, {{0, 2}, 0.1}};
  EXPECT_EQ(searcher.trainable(0, bad), false);
}

TEST(WindowSearch, IsAFunctionOfTheResults) {
  Random random(stream_key(1, "noise"), 0);
  CellResults noise;
  for (std::size_t rate = 0; rate < 13; ++rate)
    for (std::size_t seed = 0; seed < 3; ++seed)
      noise[{rate, seed}] = rate > 2 && rate < 9 ? 0.7 + 0.3 * random.uniform() : 0.3;
  const Truth truth = [&](std::size_t rate, std::size_t seed) { return noise.at({rate, seed}); };
  EXPECT_EQ(run_search(13, 3, {}, 19, truth).spent, run_search(13, 3, {}, 19, truth).spent);
  const WindowSearch searcher(13, 3, {}, 19);
  const WindowUncertainty a = resample_seeds(searcher.grid(noise), {}), b = resample_seeds(searcher.grid(noise), {});
  EXPECT_EQ(a.width_error, b.width_error);
}

TEST(WindowSearch, SeedsThatDisagreeMakeTheEdgeUncertain) {
  const auto results = [](bool disagree) {
    CellResults known;
    for (std::size_t rate = 0; rate < 13; ++rate)
      for (std::size_t seed = 0; seed < 3; ++seed)
        known[{rate, seed}] = rate >= 3 && (rate <= 8 || (disagree && rate <= 10 && seed == 0)) ? 1.0 : 0.0;
    return known;
  };
  const WindowSearch searcher(13, 3, {}, 39);
  EXPECT_EQ(resample_seeds(searcher.grid(results(false)), {}).width_error, 0);
  const WindowUncertainty uncertain = resample_seeds(searcher.grid(results(true)), {});
  EXPECT_GT(uncertain.hi_error, 0.3);
  EXPECT_EQ(uncertain.lo_error, 0);
}

TEST(WindowSearch, TheAgreementTestWouldSeeAWrongEdge) {
  const Truth truth = [](std::size_t rate, std::size_t) { return rate >= 3 && rate <= 9 ? 0.95 : 0.3; };
  EXPECT_EQ(full_grid(13, 3, {}, truth).lo, 3u);
  // The planted fault: a search that stops at its coarse rates.
  const Outcome coarse = run_search(13, 3, {}, 8, truth);
  ASSERT_TRUE(coarse.window);
  EXPECT_NE(coarse.window->lo, 3u);
  EXPECT_FALSE(coarse.window->lo_is_sharp);
}

TEST(WindowSearch, RunsThatWereThereBeforeAreFree) {
  // A window of rates 4 to 8; a sweep has left every cell but those of one rate at each edge.
  const auto accuracy = [](std::size_t rate) { return rate >= 4 && rate <= 8 ? 1.0 : 0.0; };
  const WindowSearch search(13, 1, {}, 2);
  CellResults known;
  for (std::size_t rate = 0; rate < 13; ++rate)
    if (rate != 3 && rate != 9) known[{rate, 0}] = accuracy(rate);
  EXPECT_TRUE(search.next(known).empty()) << "as if all of it had been paid for";
  std::size_t spent = 0;
  for (std::vector<Cell> wanted; !(wanted = search.next(known, spent)).empty(); spent += wanted.size())
    for (const Cell& cell : wanted) known[cell] = accuracy(cell.first);
  EXPECT_EQ(spent, 2u);
  const auto window = search.window(known);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->lo, 4u);
  EXPECT_EQ(window->hi, 8u);
  EXPECT_TRUE(window->lo_is_sharp && window->hi_is_sharp);
}

}  // namespace
}  // namespace mneme::study
