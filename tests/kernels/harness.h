// What every test of a kernel does: draws arrays, runs a kernel and its reference, compares all that they wrote, and
// compares the gradients of the reference with differences.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel_arrays.h"
#include "kernels/targets.h"

namespace mneme::testing {

// Normal numbers.
inline GuardedArray drawn(std::size_t size, std::size_t shift, std::uint64_t seed, double deviation = 1.0) {
  GuardedArray array(size, shift);
  array.fill_normal(seed, deviation);
  return array;
}

// What a kernel wrote: the output, then the gradient of each input; and whether it wrote anywhere else.
struct Written {
  std::vector<std::vector<float>> arrays;
  bool margins = true;
};

// `others` are only looked at for their margins.
inline Written written(std::initializer_list<GuardedArray*> results, std::initializer_list<GuardedArray*> others = {}) {
  Written all;
  for (GuardedArray* array : results) {
    all.arrays.push_back(array->values());
    all.margins = all.margins && array->margins_intact();
  }
  for (const GuardedArray* array : others) all.margins = all.margins && array->margins_intact();
  return all;
}

// The largest relative error of all arrays but those that `skip` names; infinite if margins were written to.
inline double worst_error(
    const Written& ours, const Written& reference,
    const std::function<bool(std::size_t)>& skip = [](std::size_t) { return false; }) {
  double worst = ours.margins && ours.arrays.size() == reference.arrays.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(ours.arrays.size(), reference.arrays.size()); ++i)
    if (!skip(i)) worst = std::max(worst, relative_error(ours.arrays[i], reference.arrays[i]));
  return worst;
}

// The same for arrays with names: the name of the worst and its error.
using Results = std::map<std::string, std::vector<float>>;
inline std::pair<std::string, double> worst_of(const Results& ours, const Results& reference) {
  std::pair<std::string, double> result{"none", 0.0};
  for (const auto& [name, values] : reference) {
    const double error = relative_error(ours.at(name), values);
    if (error > result.second) result = {name, error};
  }
  return result;
}

// Every array of `right` once as zeros, once with a wrong last element: `accepts` must say no to each.
inline void expect_faults_rejected(const Written& right, const std::function<bool(const Written&)>& accepts) {
  EXPECT_TRUE(accepts(right));
  for (std::size_t i = 0; i < right.arrays.size(); ++i) {
    Written zeros = right, tail = right, poisoned = right;
    std::fill(zeros.arrays[i].begin(), zeros.arrays[i].end(), 0.0F);
    tail.arrays[i].back() += 0.01F;
    poisoned.arrays[i].back() = kPoison;
    for (const Written& wrong : {zeros, tail, poisoned}) EXPECT_FALSE(accepts(wrong)) << "array " << i;
  }
}

// sum(values * weights)
inline double weighed(GuardedArray& values, GuardedArray& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += static_cast<double>(values[i]) * weights[i];
  return sum;
}

// A gradient against central differences of `loss` with steps of `step` in each entry of `input`.
inline void expect_slopes(GuardedArray& input, const std::vector<float>& gradient, const std::function<double()>& loss,
                          double tolerance, float step = 1e-2F) {
  const auto loss_at = [&](float& entry, float value) {
    const float before = entry;
    entry = value;
    const double found = loss();
    entry = before;
    return found;
  };
  for (std::size_t i = 0; i < input.size(); ++i) {
    float& entry = input[i];
    const double slope = (loss_at(entry, entry + step) - loss_at(entry, entry - step)) / (2.0 * step);
    EXPECT_NEAR(gradient[i], slope, tolerance) << "element " << i;
  }
}

// The same for the loss sum(output * output_gradient): arrays[n + 1] of `gradients` belongs to inputs[n]. `forward`
// computes the output from the inputs.
inline void expect_derivatives(const Written& gradients, const std::vector<GuardedArray*>& inputs, GuardedArray& output,
                               GuardedArray& output_gradient, const std::function<void()>& forward, double tolerance) {
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    SCOPED_TRACE(n);
    const auto loss = [&] {
      forward();
      return weighed(output, output_gradient);
    };
    expect_slopes(*inputs[n], gradients.arrays[n + 1], loss, tolerance);
  }
}

}  // namespace mneme::testing
