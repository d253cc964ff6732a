#include "tasks/counting.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "tasks/phase_tests.h"
#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

using testing::make_example;
using testing::make_task;
using testing::uniform_deviation;

// The whole signal of an example: its inputs and the last target.
std::vector<float> whole(const Example& example) {
  std::vector<float> steps = example.signal;
  steps.push_back(example.targets.back());
  return steps;
}

RC_GTEST_PROP(Counting, AlternatesIntervalsAndStimuli, ()) {
  const auto isi = *rc::gen::inRange<std::int64_t>(1, 12), shortest = *rc::gen::inRange<std::int64_t>(1, 12);
  const auto longest = shortest + *rc::gen::inRange<std::int64_t>(0, 12);
  const auto length = std::max<std::int64_t>(3, shortest + 1) + *rc::gen::inRange<std::int64_t>(0, 100);
  const auto task = make_task("counting", {"length=" + std::to_string(length), "isi=" + std::to_string(isi),
                                           "iti=[" + std::to_string(shortest) + ", " + std::to_string(longest) + "]"});
  const Example example = make_example(*task, *rc::gen::arbitrary<std::uint32_t>());
  RC_ASSERT(example.signal.size() == static_cast<std::size_t>(length - 1));
  const auto steps = whole(example);
  for (std::size_t t = 0; t + 1 < steps.size(); ++t) RC_ASSERT(example.targets[t] == steps[t + 1]);
  RC_ASSERT(steps[0] == 0.0F);
  std::int64_t run = 1;
  for (std::size_t t = 1; t < steps.size(); ++t) {
    if (steps[t] == steps[t - 1]) {
      ++run;
      RC_ASSERT(run <= (steps[t] == 1.0F ? isi : longest));
    } else {
      // A run that has ended is whole.
      RC_ASSERT(run >= (steps[t - 1] == 1.0F ? isi : shortest));
      run = 1;
    }
  }
}

TEST(Counting, IntervalsAreUniformWithBothEnds) {
  const auto task = make_task("counting", {"length=100", "isi=3", "iti=[4, 9]"});
  std::vector<double> counts(6);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const Example example = make_example(*task, i);
    const auto onset = std::find(example.signal.begin(), example.signal.end(), 1.0F) - example.signal.begin();
    ++counts.at(static_cast<std::size_t>(onset - 4));
  }
  EXPECT_LT(std::abs(uniform_deviation(counts)), 5);
}

TEST(Counting, ChanceIsWhatTheCurrentStepAllows) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{},
                                                  {"length=60", "isi=1", "iti=[1, 2]"},
                                                  {"length=7", "isi=3", "iti=2"},
                                                  {"length=300", "isi=30", "iti=[60, 120]"}}) {
    const auto task = make_task("counting", options);
    double after[2][2] = {{0, 0}, {0, 0}}, total = 0;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      const Example example = make_example(*task, i);
      for (std::size_t t = 0; t < example.signal.size(); ++t)
        ++after[example.signal[t] > 0][example.targets[t] > 0], ++total;
    }
    const double best = (std::max(after[0][0], after[0][1]) + std::max(after[1][0], after[1][1])) / total;
    EXPECT_NEAR(task->chance(), best, 2e-3) << options.size();
  }
}

// Appendix I of paper B: one complex state that turns by 1/n of a circle at each step of a burst and
// rests otherwise, h_t = A h_{t-1} + (1 - A)(1 - x_t) with A = exp(2 pi i / n), predicts a step on
// unless h = 1. (There bursts are zeros and rest is one; ours are the opposite, hence 1 - x_t.)
template <class Number>
std::vector<float> one_state_outputs(std::span<const float> input, std::int64_t n, std::complex<Number> start,
                                     double radius = 1) {
  using Complex = std::complex<Number>;
  const auto turn = static_cast<Complex>(std::polar(radius, 2 * std::numbers::pi / static_cast<double>(n)));
  // The read-out separates 1 from its nearest neighbour on the circle, cos(2 pi / n).
  const double threshold = (1 + std::cos(2 * std::numbers::pi / static_cast<double>(n))) / 2;
  Complex state = start;
  std::vector<float> outputs;
  for (const float step : input) {
    state = turn * state + (Complex(1) - turn) * Complex(1 - step);
    outputs.push_back(static_cast<double>(state.real()) > threshold ? 0.0F : 1.0F);
  }
  return outputs;
}

struct Setting {
  std::int64_t length, isi;
  std::string iti;
};

const std::vector<Setting> kSettings = {{200, 10, "[20, 40]"}, {600, 30, "[60, 120]"}, {1000, 50, "[100, 200]"}};

std::unique_ptr<Task> task_of(const Setting& setting) {
  return make_task("counting", {"length=" + std::to_string(setting.length), "isi=" + std::to_string(setting.isi),
                                "iti=" + setting.iti});
}

// Over 200 sequences of each length the only errors are the onsets, which nothing can predict, and all
// of them are errors.
TEST(AppendixI, OneComplexStateErrsAtTheOnsetsOnly) {
  for (const Setting& setting : kSettings) {
    const auto task = task_of(setting);
    OffsetScore offsets;
    for (std::uint64_t i = 0; i < 200; ++i) {
      const Example example = make_example(*task, i, Split::test);
      const auto outputs = one_state_outputs<double>(example.signal, setting.isi, 1.0);
      for (std::size_t t = 0; t < outputs.size(); ++t) {
        const bool onset = example.signal[t] == 0 && example.targets[t] == 1;
        ASSERT_EQ(outputs[t] != example.targets[t], onset) << setting.length << " at " << t;
      }
      offsets.add(example.signal, example.targets, outputs);
    }
    EXPECT_EQ(offsets.share(), 1.0);
    EXPECT_TRUE(offsets.passes());
  }
}

TEST(AppendixI, SinglePrecisionChangesNoPrediction) {
  for (const Setting& setting : kSettings) {
    const auto task =
        make_task("counting", {"length=100000", "isi=" + std::to_string(setting.isi), "iti=" + setting.iti});
    const Example example = make_example(*task, 0);
    EXPECT_EQ(one_state_outputs<float>(example.signal, setting.isi, 1.0F),
              one_state_outputs<double>(example.signal, setting.isi, 1.0));
  }
}

TEST(AppendixI, PassesBothPhaseTestsAndALongGap) {
  for (const Setting& setting : kSettings) {
    const Timing timing{setting.isi, 2 * setting.isi, 4 * setting.isi};
    const SignalPair two = two_isi_signal(timing), twice = double_isi_signal(timing);
    EXPECT_TRUE(passes_two_isi(two, one_state_outputs<double>(two.input, setting.isi, 1.0)));
    EXPECT_TRUE(passes_double_isi(timing, 0, one_state_outputs<double>(twice.input, setting.isi, 1.0)));
    const SignalPair gap = signal_from_segments(
        std::array<Segment, 5>{{{false, 30}, {true, setting.isi}, {false, 500}, {true, setting.isi}, {false, 5}}});
    EXPECT_TRUE(passes_two_isi(gap, one_state_outputs<double>(gap.input, setting.isi, 1.0)));
  }
}

// Condition (1): the state must start at 1; from 0 it circles at distance 1 and is never there.
TEST(AppendixI, NeedsToStartAtRest) {
  const Setting& setting = kSettings[0];
  const Example example = make_example(*task_of(setting), 0);
  OffsetScore score;
  score.add(example.signal, example.targets, one_state_outputs<double>(example.signal, setting.isi, 0.0));
  EXPECT_FALSE(score.passes());
}

// Condition (2): a burst that is interrupted leaves the state out of phase for ever.
TEST(AppendixI, NeverRecoversFromAnInterruptedBurst) {
  const SignalPair broken = signal_from_segments(
      std::array<Segment, 6>{{{false, 30}, {true, 4}, {false, 30}, {true, 10}, {false, 30}, {true, 10}}});
  const SignalPair after = {{broken.input.begin() + 40, broken.input.end()},
                            {broken.targets.begin() + 40, broken.targets.end()}};
  const auto outputs = one_state_outputs<double>(broken.input, 10, 1.0);
  OffsetScore score;
  score.add(after.input, after.targets, std::span(outputs).subspan(40));
  EXPECT_EQ(score.predicted, 0);
  EXPECT_GE(score.stimuli, 1);
}

// Condition (3): |A| must be very nearly 1. The radii are those that the specification simulated.
TEST(AppendixI, NeedsAnUndampedPole) {
  const auto errors = [](const Setting& setting, double radius) {
    const auto task = task_of(setting);
    OffsetScore score;
    for (std::uint64_t i = 0; i < 50; ++i) {
      const Example example = make_example(*task, i);
      score.add(example.signal, example.targets, one_state_outputs<double>(example.signal, setting.isi, 1.0, radius));
    }
    return score.stimuli - score.predicted;
  };
  EXPECT_EQ(errors(kSettings[0], 0.999), 0);
  EXPECT_EQ(errors(kSettings[1], 0.99999), 0);
  EXPECT_EQ(errors(kSettings[2], 0.99999), 0);
  EXPECT_GT(errors(kSettings[0], 0.97), 0);
  EXPECT_GT(errors(kSettings[1], 0.999), 0);
  EXPECT_GT(errors(kSettings[2], 0.9998), 0);
}

}  // namespace
}  // namespace mneme::tasks
