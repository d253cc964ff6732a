// What measurements of speed share: repeating, medians, growth.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace mneme {

// The middle value; of an even number of values the upper one of the two in the middle.
double median(std::vector<double> values);

// Calls `step` once unmeasured (the first touch of its memory), then again and again for about `seconds` and at
// least `at_least` times; returns the seconds that each call took.
std::vector<double> time_calls(const std::function<void()>& step, double seconds, std::size_t at_least = 5);

// The exponent p of y = c x^p by least squares on logarithms. At least two different x, all values positive.
double fitted_exponent(std::span<const double> x, std::span<const double> y);

}  // namespace mneme
