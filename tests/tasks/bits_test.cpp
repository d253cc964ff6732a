#include "tasks/bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

using testing::make_example;
using testing::make_task;
using testing::uniform_deviation;

// Every sequence of a few bits, so that corners (ties, one bit, no ones) are all met.
template <class Check>
void for_all_bits(std::size_t count, Check check) {
  for (std::uint32_t pattern = 0; pattern < 1U << count; ++pattern) {
    std::vector<std::int32_t> bits;
    for (std::size_t i = 0; i < count; ++i) bits.push_back(static_cast<std::int32_t>(pattern >> i & 1));
    check(bits);
  }
}

TEST(Bits, EndOfSequenceLabels) {
  for (const std::size_t count : {1, 4, 5}) {
    const std::string length = "length=" + std::to_string(count + 1);
    const auto parity = make_task("parity", {length}), majority = make_task("majority", {length});
    for_all_bits(count, [&](std::vector<std::int32_t> bits) {
      const auto ones = static_cast<std::size_t>(std::count(bits.begin(), bits.end(), 1));
      bits.push_back(2);
      std::vector<std::int32_t> expected(count + 1, kUnlabelled);
      expected.back() = static_cast<std::int32_t>(ones % 2);
      ASSERT_EQ(parity->solve(bits), expected);
      expected.back() = ones > count - ones ? 1 : 0;  // a tie is no majority
      ASSERT_EQ(majority->solve(bits), expected);
    });
  }
}

TEST(Bits, CumulativeLabels) {
  const auto parity = make_task("cumulative_parity", {"length=6"}),
             majority = make_task("cumulative_majority", {"length=6"});
  for_all_bits(6, [&](const std::vector<std::int32_t>& bits) {
    std::vector<std::int32_t> odd, most;
    for (std::size_t t = 0; t < 6; ++t) {
      const auto ones = std::count(bits.begin(), bits.begin() + static_cast<std::ptrdiff_t>(t) + 1, 1);
      const auto zeros = static_cast<std::ptrdiff_t>(t) + 1 - ones;
      odd.push_back(static_cast<std::int32_t>(ones % 2));
      most.push_back(ones >= zeros ? 1 : 0);  // a tie counts as 1
    }
    ASSERT_EQ(parity->solve(bits), odd);
    ASSERT_EQ(majority->solve(bits), most);
  });
}

TEST(Bits, AreFairAndIndependent) {
  const auto task = make_task("cumulative_parity", {"length=3"});
  std::vector<double> counts(8);
  for (std::uint64_t i = 0; i < 16'000; ++i) {
    const Example example = make_example(*task, i);
    ++counts[static_cast<std::size_t>(example.tokens[0] + 2 * example.tokens[1] + 4 * example.tokens[2])];
  }
  EXPECT_LT(std::abs(uniform_deviation(counts)), 5);
}

// Chance is what the best answer reaches that knows the position and the newest bit only: enumerated.
TEST(Bits, ChanceOfMajorityIsExact) {
  for (const std::size_t count : {1, 2, 3, 6, 7}) {
    const auto cumulative = make_task("cumulative_majority", {"length=" + std::to_string(count)});
    const auto final = make_task("majority", {"length=" + std::to_string(count + 1)});
    double ones_at_end = 0, total = 0;
    std::vector<std::array<std::array<double, 2>, 2>> seen(count);  // [position][newest bit][label]
    for_all_bits(count, [&](std::vector<std::int32_t> bits) {
      const auto labels = cumulative->solve(bits);
      for (std::size_t t = 0; t < count; ++t)
        ++seen[t][static_cast<std::size_t>(bits[t])][static_cast<std::size_t>(labels[t])];
      bits.push_back(2);
      ones_at_end += final->solve(bits).back();
      ++total;
    });
    double right = 0;
    for (const auto& position : seen)
      for (const auto& newest : position) right += std::max(newest[0], newest[1]);
    EXPECT_NEAR(cumulative->chance(), right / (total * static_cast<double>(count)), 1e-12) << count;
    EXPECT_NEAR(final->chance(), std::max(ones_at_end, total - ones_at_end) / total, 1e-12) << count;
  }
}

TEST(VocabMajority, HasExactlyOneMostFrequentToken) {
  for (const std::string options : {"vocab=3", "vocab=16", "vocab=200"}) {
    const auto task = make_task("vocab_majority", {"length=21", options});
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const Example example = make_example(*task, i);
      std::map<std::int32_t, int> counts;
      for (std::size_t t = 0; t < 20; ++t) {
        ASSERT_NE(example.tokens[t], 0);
        ++counts[example.tokens[t]];
      }
      ASSERT_EQ(example.tokens[20], 0);
      for (const auto& [token, count] : counts)
        if (token != example.labels[20]) {
          ASSERT_LT(count, counts.at(example.labels[20]));
        }
    }
  }
}

}  // namespace
}  // namespace mneme::tasks
