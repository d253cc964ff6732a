#include "core/timing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

namespace mneme {
namespace {

TEST(Timing, MedianIsTheMiddleOfTheSortedValues) {
  EXPECT_EQ(median({3.0}), 3.0);
  EXPECT_EQ(median({9.0, 1.0, 5.0}), 5.0);
  EXPECT_EQ(median({4.0, 1.0, 3.0, 2.0}), 3.0);
}

TEST(Timing, CallsOnceMoreThanItMeasures) {
  std::size_t calls = 0;
  const std::vector<double> times = time_calls([&] { ++calls; }, 0.0, 7);
  EXPECT_EQ(times.size(), 7u);
  EXPECT_EQ(calls, 8u);
}

TEST(Timing, SleepingTakesTheWallsTimeAlone) {
  const double wall = now(Clock::wall), thread = now(Clock::thread);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GE(now(Clock::wall) - wall, 0.02);
  EXPECT_LT(now(Clock::thread) - thread, 0.02);
}

TEST(Timing, ExponentOfAPowerLaw) {
  const std::vector<double> x = {512, 1024, 2048, 4096};
  for (const double exponent : {0.0, 1.0, 1.5, 2.0}) {
    std::vector<double> y;
    for (const double value : x) y.push_back(0.3 * std::pow(value, exponent));
    EXPECT_NEAR(fitted_exponent(x, y), exponent, 1e-12);
  }
}

TEST(Timing, ExponentIsTheSlopeOfTheBestLine) {
  const double e = std::exp(1.0);
  EXPECT_NEAR(fitted_exponent(std::vector{1.0, e, e * e}, std::vector{1.0, e * e, e}), 0.5, 1e-12);
}

}  // namespace
}  // namespace mneme
