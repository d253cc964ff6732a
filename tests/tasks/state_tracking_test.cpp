#include "tasks/state_tracking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tasks/groups.h"
#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

using testing::make_example;
using testing::make_task;
using testing::uniform_deviation;

TEST(StateTracking, LabelsAreRunningProducts) {
  for (const std::string name : {"Z60", "A4xZ5", "A5", "S4"}) {
    const Group group = Group::parse(name);
    const auto task = make_task("state_tracking", {"group=" + name, "length=37"});
    for (std::uint64_t i = 0; i < 100; ++i) {
      const Example example = make_example(*task, i);
      ASSERT_EQ(example.labels[0], example.tokens[0]);
      for (std::size_t t = 1; t < 37; ++t)
        ASSERT_EQ(example.labels[t], group.product(example.labels[t - 1], example.tokens[t])) << name;
    }
  }
}

TEST(StateTracking, CyclicGroupsAddUp) {
  const auto task = make_task("state_tracking", {"group=Z60", "length=50"});
  const Example example = make_example(*task, 3);
  std::int32_t sum = 0;
  for (std::size_t t = 0; t < 50; ++t) {
    sum = (sum + example.tokens[t]) % 60;
    EXPECT_EQ(example.labels[t], sum);
  }
}

TEST(StateTracking, EveryPositionIsUniform) {
  const auto task = make_task("state_tracking", {"group=A5", "length=8"});
  std::vector<std::vector<double>> counts(8, std::vector<double>(60));
  for (std::uint64_t i = 0; i < 12'000; ++i) {
    const Example example = make_example(*task, i);
    for (std::size_t t = 0; t < 8; ++t) ++counts[t].at(static_cast<std::size_t>(example.labels[t]));
  }
  for (const auto& position : counts) EXPECT_LT(std::abs(uniform_deviation(position)), 5);
}

// 60^8 words: the chance that any two of 20,000 agree is one in a million.
TEST(StateTracking, WordsAreDistinctWithinAndAcrossSplits) {
  const auto task = make_task("state_tracking");
  std::set<std::vector<std::int32_t>> words;
  for (const Split split : {Split::train, Split::test})
    for (std::uint64_t i = 0; i < 10'000; ++i) EXPECT_TRUE(words.insert(make_example(*task, i, split).tokens).second);
}

TEST(StateTracking, ShorterWordsArePaddedAndNotAskedThere) {
  const auto task = make_task("state_tracking", {"group=S3", "length=6", "min_length=2", "bos=true"});
  EXPECT_EQ(task->shape().length, 7);
  EXPECT_EQ(task->shape().vocab, 8);
  std::vector<double> lengths(5);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const Example example = make_example(*task, i);
    ASSERT_EQ(example.tokens[0], 7);
    ASSERT_EQ(example.labels[0], 7);
    std::size_t length = 0;
    while (length < 6 && example.tokens[length + 1] != 6) ++length;
    ++lengths.at(length - 2);
    for (std::size_t t = length + 1; t < 7; ++t)
      ASSERT_TRUE(example.tokens[t] == 6 && example.labels[t] == kUnlabelled);
  }
  EXPECT_LT(std::abs(uniform_deviation(lengths)), 5);
}

}  // namespace
}  // namespace mneme::tasks
