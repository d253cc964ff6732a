// What measurements of speed share: repeating, medians, growth.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <vector>

namespace mneme {

// The middle value; of an even number of values the upper one of the two in the middle.
double median(std::vector<double> values);

// Seconds since some fixed moment: as the wall shows them, or those that this thread has spent on a processor. The
// latter hardly depend on what else the machine does, and are the wall's on an idle one as long as one thread does all
// the work.
enum class Clock { wall, thread };
double now(Clock clock);

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Calls `step` once unmeasured (the first touch of its memory), then repeatedly for about `seconds` of the wall
// and at least `at_least` times; returns the seconds that each call took on `clock`.
std::vector<double> time_calls(const std::function<void()>& step, double seconds, std::size_t at_least = 5,
                               Clock clock = Clock::wall);

// The exponent p of y = c x^p by least squares on logarithms. At least two different x, all values positive.
double fitted_exponent(std::span<const double> x, std::span<const double> y);

}  // namespace mneme
