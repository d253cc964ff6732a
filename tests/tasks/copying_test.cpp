#include "tasks/copying.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

using testing::count_labels;
using testing::make_example;
using testing::make_task;
using testing::uniform_deviation;

RC_GTEST_PROP(Copying, HasTheLayoutOfArjovsky, ()) {
  const auto name = *rc::gen::element<std::string>("copying", "denoising");
  const auto pattern = *rc::gen::inRange<std::size_t>(1, 20), blanks = *rc::gen::inRange<std::size_t>(1, 20);
  const auto task = make_task(name, {"pattern=" + std::to_string(pattern), "blanks=" + std::to_string(blanks)});
  const Example example = make_example(*task, *rc::gen::arbitrary<std::uint32_t>());
  RC_ASSERT(example.tokens.size() == blanks + 2 * pattern);
  std::vector<std::int32_t> data;
  for (std::size_t t = 0; t < example.tokens.size(); ++t) {
    const std::int32_t token = example.tokens[t];
    RC_ASSERT((token == 9) == (t == pattern + blanks - 1));
    if (token >= 1 && token <= 8) data.push_back(token);
    if (t >= pattern + blanks) RC_ASSERT(token == 0);
    if (name == "copying" && t < pattern) RC_ASSERT(token != 0);
  }
  RC_ASSERT(data.size() == pattern);
  RC_ASSERT(std::vector<std::int32_t>(example.labels.end() - static_cast<std::ptrdiff_t>(pattern),
                                      example.labels.end()) == data);
  RC_ASSERT(count_labels(example) == pattern);
}

TEST(Copying, MixturesArePaddedOnTheRight) {
  const auto task = make_task("copying", {"pattern=[2, 4]", "blanks=[3, 5]", "loss=all"});
  ASSERT_EQ(task->shape().length, 13);
  EXPECT_EQ(task->shape().vocab, 11);
  EXPECT_EQ(task->shape().classes, 10);
  std::vector<double> counts(4);
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const Example example = make_example(*task, i);
    const auto indicator =
        static_cast<std::size_t>(std::find(example.tokens.begin(), example.tokens.end(), 9) - example.tokens.begin());
    std::size_t length = 0;
    while (length < 13 && example.tokens[length] != 10) ++length;
    const std::size_t pattern = length - indicator - 1, blanks = length - 2 * pattern;
    ASSERT_TRUE((pattern == 2 || pattern == 4) && (blanks == 3 || blanks == 5));
    ++counts[(pattern - 2) + (blanks - 3) / 2];
    for (std::size_t t = 0; t < 13; ++t) {
      ASSERT_EQ(example.tokens[t] == 10, t >= length);
      ASSERT_EQ(example.labels[t] == kUnlabelled, t >= length);
      if (t <= indicator) {
        ASSERT_EQ(example.labels[t], 0);
      }
    }
  }
  EXPECT_LT(std::abs(uniform_deviation(counts)), 5);
}

TEST(Copying, SymbolsAreUniform) {
  const auto task = make_task("copying", {"pattern=10", "blanks=3"});
  std::vector<double> counts(8);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const Example example = make_example(*task, i);
    for (std::size_t t = 0; t < 10; ++t) ++counts.at(static_cast<std::size_t>(example.tokens[t] - 1));
  }
  EXPECT_LT(std::abs(uniform_deviation(counts)), 5);
}

TEST(Denoising, EveryPlaceHoldsDataEquallyOften) {
  const auto task = make_task("denoising", {"pattern=3", "blanks=9"});
  std::vector<double> counts(11);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const Example example = make_example(*task, i);
    for (std::size_t t = 0; t < 11; ++t) counts[t] += example.tokens[t] != 0;
  }
  EXPECT_LT(uniform_deviation(counts), 5);
  for (const double count : counts) EXPECT_NEAR(count / 20'000, 3.0 / 11, 0.02);
}

TEST(Copying, ChanceIsTheBestWithoutMemory) {
  EXPECT_DOUBLE_EQ(make_task("copying")->chance(), 1.0 / 8);
  // 50 + 20 positions, 60 of them blank, 10 guessed.
  EXPECT_DOUBLE_EQ(make_task("copying", {"blanks=50", "loss=all"})->chance(), (60 + 10.0 / 8) / 70);
}

TEST(SelectiveCopying, KeepsTheOrderAcrossTheNoise) {
  const auto task = make_task("selective_copying", {"length=50", "data=7", "vocab=6"});
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Example example = make_example(*task, i);
    std::vector<std::int32_t> data;
    for (std::size_t t = 0; t < 57; ++t) {
      if (t < 50 && example.tokens[t] != 0) data.push_back(example.tokens[t]);
      ASSERT_EQ(example.tokens[t] == 5, t >= 50);
      ASSERT_EQ(example.labels[t] == kUnlabelled, t < 50);
    }
    ASSERT_EQ(std::vector<std::int32_t>(example.labels.begin() + 50, example.labels.end()), data);
  }
}

}  // namespace
}  // namespace mneme::tasks
