#include "tasks/phase_tests.h"

#include <gtest/gtest.h>

#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

constexpr Timing kTiming{10, 20, 40};

TEST(OffsetScore, CountsWholeStimuliOnly) {
  // Two off, three on, one off, two on (cut off at the end).
  const SignalPair signal =
      signal_from_segments(std::array<Segment, 4>{{{false, 2}, {true, 3}, {false, 1}, {true, 2}}});
  ASSERT_EQ(signal.input, (std::vector<float>{0, 0, 1, 1, 1, 0, 1}));
  ASSERT_EQ(signal.targets, (std::vector<float>{0, 1, 1, 1, 0, 1, 1}));
  OffsetScore score;
  score.add(signal.input, signal.targets, signal.targets);
  EXPECT_EQ(score.stimuli, 1);
  EXPECT_EQ(score.predicted, 1);
}

TEST(OffsetScore, WantsOnInsideAndOffAtTheEnd) {
  const SignalPair signal = signal_from_segments(std::array<Segment, 3>{{{false, 2}, {true, 3}, {false, 2}}});
  const auto predicted = [&](std::vector<float> outputs) {
    OffsetScore score;
    score.add(signal.input, signal.targets, outputs);
    EXPECT_EQ(score.stimuli, 1);
    return score.predicted == 1;
  };
  EXPECT_TRUE(predicted({0, 0, 0.5F, 0.9F, 0.4F, 0}));
  EXPECT_TRUE(predicted({1, 1, 1, 1, 0, 1})) << "the intervals are not scored";
  EXPECT_FALSE(predicted({0, 0, 1, 1, 1, 0})) << "the offset is missed";
  EXPECT_FALSE(predicted({0, 0, 1, 0, 0, 0})) << "off too early";
}

TEST(OffsetScore, PassesFromNinetyFivePercent) {
  EXPECT_TRUE((OffsetScore{95, 100}.passes()));
  EXPECT_FALSE((OffsetScore{94, 100}.passes()));
  EXPECT_FALSE((OffsetScore{0, 0}.passes()));
}

TEST(OffsetScore, PersistenceFailsAndFutureKnowledgePasses) {
  const auto task = testing::make_task("counting");
  OffsetScore persistence, oracle;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Example example = testing::make_example(*task, i, Split::test);
    persistence.add(example.signal, example.targets, example.signal);
    oracle.add(example.signal, example.targets, example.targets);
  }
  EXPECT_EQ(persistence.predicted, 0);
  EXPECT_TRUE(oracle.passes());
  EXPECT_GT(oracle.stimuli, 600);
}

TEST(TwoIsi, WantsBothOffsets) {
  const SignalPair signal = two_isi_signal(kTiming);
  EXPECT_EQ(signal.input.size(), 30U + 10 + 80 + 10 + 30 - 1);
  std::vector<float> outputs = signal.targets;
  EXPECT_TRUE(passes_two_isi(signal, outputs));
  outputs[30 + 10 + 80 + 10 - 1] = 1;
  EXPECT_FALSE(passes_two_isi(signal, outputs));
}

// What a model does that counts to ten and starts again: off at on-steps 10 and 20.
std::vector<float> counter_outputs(const SignalPair& signal, std::size_t second) {
  std::vector<float> outputs = signal.input;
  outputs[30 + 9] = 0;
  outputs[second + 9] = 0;
  return outputs;
}

TEST(DoubleIsi, WantsTheCountToStartAgain) {
  const SignalPair signal = double_isi_signal(kTiming);
  const auto outputs = counter_outputs(signal, 40);
  EXPECT_TRUE(passes_double_isi(kTiming, 0, outputs));
  EXPECT_FALSE(passes_double_isi(kTiming, 0, signal.targets)) << "no offset after the first ten";
  for (const std::size_t step : {40, 41}) {
    auto slow = outputs;
    slow[step] = 0;
    EXPECT_TRUE(passes_double_isi(kTiming, 0, slow)) << "two steps to come back are allowed: " << step;
  }
  auto late = outputs;
  late[42] = 0;
  EXPECT_FALSE(passes_double_isi(kTiming, 0, late));
  auto missed = outputs;
  missed[49] = 1;
  EXPECT_FALSE(passes_double_isi(kTiming, 0, missed)) << "no offset after the second ten";
}

TEST(DoubleIsi, CanHaveAGap) {
  const SignalPair signal = double_isi_signal(kTiming, 1);
  EXPECT_TRUE(passes_double_isi(kTiming, 1, counter_outputs(signal, 41)));
  EXPECT_FALSE(passes_double_isi(kTiming, 1, counter_outputs(signal, 40)));
}

}  // namespace
}  // namespace mneme::tasks
