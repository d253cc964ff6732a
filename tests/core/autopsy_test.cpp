#include "core/autopsy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "support/expect_error.h"
#include "support/temporary_directory.h"

namespace mneme {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Three groups whose numbers wander by a factor of two.
TrainingTrace calm(int steps) {
  TrainingTrace trace{{"embedding", "layers.0.A_log", "layers.1.A_log"}, {}};
  for (int i = 0; i < steps; ++i) {
    const auto wave = static_cast<float>(1.5 + 0.5 * std::sin(0.7 * i));
    trace.add({.step = i + 1,
               .loss = wave,
               .largest_logit = 4 * wave,
               .smallest_decay = 0.1F,
               .largest_decay = 0.9F,
               .gradient_norm = {wave, 0.01F * wave, 0.1F * wave},
               .update_ratio = {1e-3F * wave, 2e-3F * wave, 3e-3F * wave}});
  }
  return trace;
}

TEST(Autopsy, NamesTheGroupThatLeftItsBandFirst) {
  TrainingTrace trace = calm(60);
  trace.steps[50].gradient_norm[1] = 1;  // first, though not the largest number
  for (int i = 51; i < 60; ++i) {
    trace.steps[static_cast<std::size_t>(i)].gradient_norm = {50, 50, 50};
    trace.steps[static_cast<std::size_t>(i)].loss = 100;
  }
  trace.steps.back().loss = std::numeric_limits<float>::quiet_NaN();
  const auto found = departures(trace);
  ASSERT_GE(found.size(), 3U);
  EXPECT_EQ(found[0].group, "layers.0.A_log");
  EXPECT_EQ(found[0].quantity, "gradient_norm");
  EXPECT_EQ(found[0].step, 51);
  EXPECT_GT(found[0].value, found[0].high);
  EXPECT_EQ(found[1].step, 52);
  EXPECT_THAT(autopsy_sentence(trace),
              HasSubstr("layers.0.A_log left its band first, at step 51: gradient norm 1, expected"));
}

TEST(Autopsy, TheGroupAndTheQuantityFollowThePlantedFault) {
  for (std::size_t group = 0; group < 3; ++group) {
    TrainingTrace trace = calm(64);
    trace.steps[60].update_ratio[group] *= 100;
    const auto found = departures(trace);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].group, trace.groups[group]);
    EXPECT_EQ(found[0].quantity, "update_ratio");
  }
  TrainingTrace decay = calm(64);
  decay.steps[60].largest_decay = 0.9999F;
  ASSERT_EQ(departures(decay).size(), 1U);
  EXPECT_EQ(departures(decay)[0].quantity, "largest_decay");
  decay = calm(64);
  decay.steps[60].smallest_decay = 1e-9F;
  ASSERT_EQ(departures(decay).size(), 1U);
  EXPECT_EQ(departures(decay)[0].quantity, "smallest_decay");
}

TEST(Autopsy, ANumberThatIsNotFiniteIsOutsideAndTheLossComesLast) {
  TrainingTrace trace = calm(20);
  TraceStep last = trace.steps.back();
  last.step = 21;
  last.loss = last.largest_logit = std::numeric_limits<float>::infinity();
  last.gradient_norm[2] = std::numeric_limits<float>::quiet_NaN();
  trace.add(last);
  const auto found = departures(trace);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].group, "layers.1.A_log");
  EXPECT_TRUE(found[1].group.empty());
  EXPECT_THAT(autopsy_sentence(trace),
              HasSubstr("layers.1.A_log left its band first, at step 21: gradient norm NaN, expected 0."));
}

TEST(Autopsy, AGroupIsNamedEvenIfTheWholeModelLeftFirst) {
  TrainingTrace trace = calm(64);
  trace.steps[50].largest_logit = 1e6F;
  EXPECT_THAT(autopsy_sentence(trace), HasSubstr("the largest logit left its band first, at step 51: largest logit "));
  EXPECT_THAT(autopsy_sentence(trace), HasSubstr("; no group of parameters left its band"));
  trace.steps[52].gradient_norm[0] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(autopsy_sentence(trace), HasSubstr("; of the groups of parameters " + trace.groups[0] +
                                                 " was the first, at step 53: gradient norm infinite, expected "));
}

TEST(Autopsy, CalmRunsAndMixersWithoutDecayHaveNone) {
  TrainingTrace trace = calm(64);
  for (TraceStep& step : trace.steps)
    step.smallest_decay = step.largest_decay = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(departures(trace), IsEmpty());
  EXPECT_EQ(autopsy_sentence(trace), "nothing left its band in the last 64 steps");
  // A rate that falls to zero at the end of its schedule is not a fault, nor is a group without a gradient.
  for (std::size_t i = 50; i < 64; ++i) trace.steps[i].update_ratio[0] = 0;
  for (TraceStep& step : trace.steps) step.gradient_norm[1] = 0;
  EXPECT_THAT(departures(trace), IsEmpty());
  EXPECT_THAT(autopsy_sentence(calm(3)), HasSubstr("too few"));
}

TEST(Autopsy, KeepsTheLastStepsAndComesBackFromItsFile) {
  const testing::TemporaryDirectory directory;
  const TrainingTrace trace = calm(100);
  ASSERT_EQ(trace.steps.size(), kTraceSteps);
  EXPECT_EQ(trace.steps.front().step, 37);
  const Path file = directory / "autopsy.safetensors";
  save_autopsy(file, trace, "0123456789ab");
  const TrainingTrace back = load_autopsy(file);
  EXPECT_EQ(back.groups, trace.groups);
  ASSERT_EQ(back.steps.size(), trace.steps.size());
  for (std::size_t i = 0; i < back.steps.size(); ++i) {
    EXPECT_EQ(back.steps[i].step, trace.steps[i].step);
    EXPECT_EQ(back.steps[i].loss, trace.steps[i].loss);
    EXPECT_EQ(back.steps[i].largest_logit, trace.steps[i].largest_logit);
    EXPECT_EQ(back.steps[i].smallest_decay, trace.steps[i].smallest_decay);
    EXPECT_EQ(back.steps[i].gradient_norm, trace.steps[i].gradient_norm);
    EXPECT_EQ(back.steps[i].update_ratio, trace.steps[i].update_ratio);
  }
  const std::string whole = read_file(file);
  std::ofstream(file, std::ios::binary) << whole.substr(0, whole.size() - 4) << "abcd";
  testing::error_of(ErrorKind::data, [&] { load_autopsy(file); });
  save_autopsy(file, {trace.groups, {}}, "0123456789ab");
  EXPECT_THAT(load_autopsy(file).steps, IsEmpty());
}

}  // namespace
}  // namespace mneme
