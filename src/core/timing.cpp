#include "core/timing.h"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace mneme {

double median(std::vector<double> values) {
  require(!values.empty(), "values to take the median of");
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double now(Clock clock) {
  timespec time{};
  const int got = ::clock_gettime(clock == Clock::wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time);
  require(got == 0, "a clock");
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::vector<double> time_calls(const std::function<void()>& step, double seconds, std::size_t at_least, Clock clock) {
  step();
  std::vector<double> times;
  const double start = now(Clock::wall);
  do {
    const double before = now(clock);
    step();
    times.push_back(now(clock) - before);
  } while (times.size() < at_least || now(Clock::wall) - start < seconds);
  return times;
}

double fitted_exponent(std::span<const double> x, std::span<const double> y) {
  require(x.size() == y.size() && x.size() >= 2, "two points or more for a fitted exponent");
  const auto count = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / count;
    mean_y += std::log(y[i]) / count;
  }
  double together = 0, alone = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = std::log(x[i]) - mean_x;
    together += dx * (std::log(y[i]) - mean_y);
    alone += dx * dx;
  }
  require(alone > 0, "two different points for a fitted exponent");
  return together / alone;
}

}  // namespace mneme
