#include "core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace mneme {
namespace {

using Block = std::array<std::uint32_t, 4>;

// Random123's known answers for philox4x32-10: all zeros, all ones, the digits of pi.
TEST(Philox, MatchesTheKnownAnswers) {
  EXPECT_EQ(philox_block(0, 0, 0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox_block(~0ULL, ~0ULL, ~0ULL), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox_block(0x299f31d0'a4093822, 0x03707344'13198a2e, 0x85a308d3'243f6a88),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, EightBlocksAtOnceAreTheSameWords) {
  const std::uint64_t words[] = {0, 1, 0xFFFFFFFF, 0xFFFFFFFC, 0x1'00000000, 0x89ABCDEF'01234567, ~0ULL, ~0ULL - 3};
  for (const std::uint64_t key : words)
    for (const std::uint64_t item : words)
      for (const std::uint64_t block : words) {
        PhiloxBlocks plain, fast;
        plain.fill(77);
        fast.fill(78);
        philox_blocks_plain(key, item, block, plain);
        philox_blocks(key, item, block, fast);
        ASSERT_EQ(plain, fast) << key << " " << item << " " << block;
        for (std::uint64_t i = 0; i < 8; ++i) {
          const Block expected = philox_block(key, item, block + i);
          ASSERT_TRUE(std::equal(expected.begin(), expected.end(), plain.begin() + static_cast<std::ptrdiff_t>(4 * i)));
        }
      }
}

TEST(Random, BitsAreTheBlocksInOrder) {
  for (const auto& [key, item] : {std::pair<std::uint64_t, std::uint64_t>{0, 0},
                                  {stream_key(42, "data/train"), 7},
                                  {~0ULL, ~0ULL},
                                  {1, 1ULL << 32}}) {
    Random random(key, item);
    for (std::uint64_t block = 0; block < 100; ++block)
      for (const std::uint32_t word : philox_block(key, item, block)) ASSERT_EQ(random.bits(), word) << block;
  }
}

TEST(Random, CopiesContinueAlike) {
  Random random(1, 2);
  for (int i = 0; i < 13; ++i) random.bits();
  random.normal();
  Random copy = random;
  EXPECT_EQ(copy.normal(), random.normal());
  for (int i = 0; i < 100; ++i) ASSERT_EQ(copy.bits(), random.bits());
}

// How far a chi-square statistic is from its mean, in standard deviations.
double deviations(const std::vector<int>& counts, double draws) {
  const double expected = draws / static_cast<double>(counts.size());
  double statistic = 0;
  for (const int count : counts) statistic += (count - expected) * (count - expected) / expected;
  const double freedom = static_cast<double>(counts.size()) - 1;
  return (statistic - freedom) / std::sqrt(2 * freedom);
}

TEST(Below, EveryValueIsEquallyLikely) {
  for (const std::uint32_t bound : {2U, 3U, 7U, 10U, 64U, 1000U}) {
    Random random(stream_key(1, "below"), bound), wide(stream_key(2, "below"), bound);
    std::vector<int> counts(bound), wide_counts(bound);
    constexpr int kDraws = 200'000;
    for (int i = 0; i < kDraws; ++i) {
      ++counts.at(random.below(bound));
      ++wide_counts.at(wide.below64(bound));
    }
    EXPECT_LT(std::abs(deviations(counts, kDraws)), 4) << bound;
    EXPECT_LT(std::abs(deviations(wide_counts, kDraws)), 4) << bound;
  }
}

// With 3 * 2^30 values a plain remainder gives the lowest third twice the share of the others, and a plain
// multiplication gives the multiples of three twice the share.
TEST(Below, HasNoBiasForLargeBounds) {
  Random random(stream_key(3, "below"), 0);
  std::vector<int> thirds(3), residues(3), wide_thirds(3), wide_residues(3);
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint32_t value = random.below(3U << 30);
    const std::uint64_t wide = random.below64(3ULL << 62);
    ++thirds.at(value >> 30);
    ++residues.at(value % 3);
    ++wide_thirds.at(wide >> 62);
    ++wide_residues.at(wide % 3);
  }
  for (const auto& counts : {thirds, residues, wide_thirds, wide_residues})
    EXPECT_LT(std::abs(deviations(counts, kDraws)), 4);
}

TEST(Below, OneHasOneValue) {
  Random random(5, 5);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(random.below(1), 0U);
    EXPECT_EQ(random.below64(1), 0U);
  }
}

TEST(Uniform, FillsTheUnitInterval) {
  Random random(stream_key(4, "uniform"), 0);
  std::vector<int> counts(100);
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    ++counts.at(static_cast<std::size_t>(value * 100));
  }
  EXPECT_LT(std::abs(deviations(counts, kDraws)), 4);
}

TEST(Normal, HasTheMomentsOfANormal) {
  Random random(stream_key(5, "normal"), 0);
  constexpr int kDraws = 400'000;
  std::array<double, 5> moments{};
  double neighbours = 0, previous = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.normal();
    ASSERT_TRUE(std::isfinite(value));
    double power = 1;
    for (double& moment : moments) moment += (power *= value) / kDraws;
    neighbours += value * previous / kDraws;
    previous = value;
  }
  // Four standard errors each: the variance of the k-th moment is (2k-1)!! - moment^2.
  const auto error = [](double variance) { return 4 * std::sqrt(variance / kDraws); };
  EXPECT_NEAR(moments[0], 0, error(1));
  EXPECT_NEAR(moments[1], 1, error(2));
  EXPECT_NEAR(moments[2], 0, error(15));
  EXPECT_NEAR(moments[3], 3, error(96));
  EXPECT_NEAR(neighbours, 0, error(1)) << "both values of a Box-Muller pair are independent";
}

TEST(Shuffled, IsAPermutation) {
  for (const std::size_t size : {0U, 1U, 2U, 31U, 1000U}) {
    std::vector<std::uint32_t> order(size, 77);
    shuffled(order, 1, 2);
    std::vector<std::uint32_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t i = 0; i < size; ++i) ASSERT_EQ(sorted[i], i);
  }
}

TEST(Shuffled, EveryOrderIsEquallyLikely) {
  std::map<std::vector<std::uint32_t>, int> seen;
  constexpr int kDraws = 48'000;
  for (int item = 0; item < kDraws; ++item) {
    std::vector<std::uint32_t> order(4);
    shuffled(order, stream_key(6, "order"), static_cast<std::uint64_t>(item));
    ++seen[order];
  }
  ASSERT_EQ(seen.size(), 24U);
  std::vector<int> counts;
  for (const auto& [order, count] : seen) counts.push_back(count);
  EXPECT_LT(std::abs(deviations(counts, kDraws)), 4);
}

TEST(Streams, DifferByNameAndSeed) {
  std::set<std::uint64_t> keys, seeds;
  int count = 0;
  for (const std::uint64_t seed : {0ULL, 1ULL, 2ULL, 42ULL, 123ULL, ~0ULL})
    for (const char* name : {"data/train", "data/validation", "data/test", "init", "order", "dropout", ""}) {
      keys.insert(stream_key(seed, name));
      seeds.insert(derived_seed(seed, name));
      EXPECT_LT(derived_seed(seed, name), 1ULL << 53);
      ++count;
    }
  EXPECT_EQ(keys.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(seeds.size(), static_cast<std::size_t>(count));
}

TEST(Streams, NeighbouringItemsShareNothing) {
  const std::uint64_t key = stream_key(42, "data/train");
  std::set<std::uint32_t> words;
  for (std::uint64_t item = 0; item < 64; ++item) {
    Random random(key, item);
    for (int i = 0; i < 8; ++i) words.insert(random.bits());
  }
  EXPECT_GE(words.size(), 64U * 8 - 1);
}

TEST(NameHash, DependsOnEveryLetterAndItsPlace) {
  const std::set<std::uint64_t> hashes{name_hash(""),
                                       name_hash("a"),
                                       name_hash("b"),
                                       name_hash("ab"),
                                       name_hash("ba"),
                                       name_hash(std::string_view("\0", 1)),
                                       name_hash(std::string_view("a\0", 2))};
  EXPECT_EQ(hashes.size(), 7U);
}

// Every stored result depends on these: a change is a new version of all data.
TEST(Streams, StayAsTheyAre) {
  EXPECT_EQ(stream_key(42, "data/train"), 2635879479042973767ULL);
  EXPECT_EQ(derived_seed(42, "init"), 8296554817510433ULL);
  EXPECT_EQ(name_hash("layers.0.mixer.weight"), 5951517775120657514ULL);
}

}  // namespace
}  // namespace mneme
