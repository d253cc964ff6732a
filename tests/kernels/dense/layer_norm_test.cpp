#include "kernels/dense/layer_norm.h"

#include <gtest/gtest.h>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::drawn;
using mneme::testing::GuardedArray;
using mneme::testing::worst_error;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen: 8e-7.
constexpr double kTolerance = 3e-6;
constexpr float kEps = 1e-5F;

// With a second summand and a gradient that passes by, or without both.
Written run(decltype(&layer_norm) forward, decltype(&layer_norm_backward) backward, std::size_t T, std::size_t D,
            bool sum, double offset) {
  const std::size_t shift = D % 3;
  const auto array = [&](std::size_t count, std::uint64_t seed) { return drawn(count, shift, seed); };
  GuardedArray a = array(T * D, 1), b = array(T * D, 2), weight = array(D, 3), bias = array(D, 4), dy = array(T * D, 5),
               through = array(T * D, 6);
  for (std::size_t i = 0; i < T * D; ++i) a[i] += static_cast<float>(offset);
  GuardedArray r(T * D, shift), y(T * D, shift), dr(T * D, shift), dweight = array(D, 7), dbias = array(D, 8);
  const LayerNormInput in{T, D, kEps, weight.data(), bias.data(), a.data(), sum ? b.data() : nullptr};
  forward(in, y.data(), {r.data()});
  backward(in, {sum ? r.data() : a.data()}, dy.data(),
           {dr.data(), dweight.data(), dbias.data(), sum ? through.data() : nullptr});
  if (sum) return written({&y, &dr, &dweight, &dbias, &r});
  return written({&y, &dr, &dweight, &dbias}, {&r});
}

double error(std::size_t T, std::size_t D, bool sum, double offset = 0) {
  return worst_error(run(layer_norm, layer_norm_backward, T, D, sum, offset),
                     run(layer_norm_reference, layer_norm_backward_reference, T, D, sum, offset));
}

KERNEL_TEST(KernelsLayerNorm, AgreesWithReference) {
  // Not two channels: nothing passes through their norm but rounding.
  for (const std::size_t D : {3, 7, 8, 16, 17, 31, 33, 64, 100})
    for (const std::size_t T : {1, 2, 9})
      for (const bool sum : {false, true}) EXPECT_LE(error(T, D, sum), kTolerance) << D << ' ' << T << ' ' << sum;
}

KERNEL_TEST(KernelsLayerNorm, AChannelMeanFarFromZeroDoesNoHarm) {
  // The variance is taken around the mean, not as a difference of squares: only the rounding of the input is left.
  // Worst seen: 1.2e-5.
  EXPECT_LE(error(4, 64, true, 100.0), 2e-5);
}

TEST(KernelsLayerNorm, ReferenceByHand) {
  const float a[] = {1, 3}, b[] = {2, 4}, weight[] = {2, 10}, bias[] = {0.5F, -1}, dy[] = {1, 0}, through[] = {7, 8};
  float r[2], y[2], dr[2], dweight[2] = {1, 1}, dbias[2] = {1, 1};
  const LayerNormInput in{1, 2, 0, weight, bias, a, b};
  layer_norm_reference(in, y, {r});  // r = 3, 7: mean 5, deviation 2
  EXPECT_EQ(std::vector<float>(r, r + 2), (std::vector<float>{3, 7}));
  EXPECT_EQ(std::vector<float>(y, y + 2), (std::vector<float>{-1.5F, 9}));
  layer_norm_backward_reference(in, {r}, dy, {dr, dweight, dbias, through});
  EXPECT_EQ(std::vector<float>(dweight, dweight + 2), (std::vector<float>{0, 1}));
  EXPECT_EQ(std::vector<float>(dbias, dbias + 2), (std::vector<float>{2, 1}));
  // Two channels leave the norm no freedom: nothing passes through it.
  EXPECT_EQ(std::vector<float>(dr, dr + 2), (std::vector<float>{7, 8}));
}

KERNEL_TEST(KernelsLayerNorm, TheGradientOfANormSumsToZero) {
  // A constant added to all channels changes nothing.
  const std::size_t D = 48;
  GuardedArray r(D, 0), dy(D, 0), weight(D, 0), bias(D, 0, 0), dr(D, 0), dweight(D, 0, 0), dbias(D, 0, 0);
  r.fill_normal(1);
  dy.fill_normal(2);
  weight.fill_normal(3);
  layer_norm_backward({1, D, kEps, weight.data(), bias.data(), nullptr, nullptr}, {r.data()}, dy.data(),
                      {dr.data(), dweight.data(), dbias.data(), nullptr});
  double sum = 0, size = 0;
  for (const float value : dr.values()) {
    sum += value;
    size += std::abs(value);
  }
  EXPECT_LE(std::abs(sum), 1e-6 * size);
}

}  // namespace
}  // namespace mneme::kernels
