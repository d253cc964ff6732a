// Comparing kernels that have a forward and a backward pass with their references.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <vector>

#include "kernels/kernel_arrays.h"

namespace mneme::testing {

// What a kernel wrote: the output, then the gradient of each input; and whether it wrote anywhere else.
struct Written {
  std::vector<std::vector<float>> arrays;
  bool margins = true;
};

// `others` are only looked at for their margins.
inline Written written(std::initializer_list<GuardedArray*> results, std::initializer_list<GuardedArray*> others) {
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
  double worst = ours.margins ? 0 : INFINITY;
  for (std::size_t i = 0; i < ours.arrays.size(); ++i)
    if (!skip(i)) worst = std::max(worst, relative_error(ours.arrays[i], reference.arrays[i]));
  return worst;
}

// Gradients against central differences of sum(output * output_gradient) with steps of 1e-2: arrays[n + 1] of
// `gradients` belongs to inputs[n]. `forward` computes the output from the inputs.
inline void expect_derivatives(const Written& gradients, const std::vector<GuardedArray*>& inputs, GuardedArray& output,
                               GuardedArray& output_gradient, const std::function<void()>& forward, double tolerance) {
  constexpr float kStep = 1e-2F;
  const auto loss_at = [&](float& entry, float value) {
    const float before = entry;
    entry = value;
    forward();
    entry = before;
    double sum = 0;
    for (std::size_t i = 0; i < output.size(); ++i) sum += static_cast<double>(output[i]) * output_gradient[i];
    return sum;
  };
  for (std::size_t n = 0; n < inputs.size(); ++n)
    for (std::size_t i = 0; i < inputs[n]->size(); ++i) {
      float& entry = (*inputs[n])[i];
      const double slope = (loss_at(entry, entry + kStep) - loss_at(entry, entry - kStep)) / (2.0 * kStep);
      EXPECT_NEAR(gradients.arrays[n + 1][i], slope, tolerance) << "input " << n << ", element " << i;
    }
}

}  // namespace mneme::testing
