#include "kernels/dense/linear.h"

#include <gtest/gtest.h>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::drawn;
using mneme::testing::GuardedArray;
using mneme::testing::worst_error;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen on any target: 6.9e-7.
constexpr double kTolerance = 2e-6;

Written run(decltype(&linear) forward, decltype(&linear_backward) backward, const LinearShape& s, std::size_t shift) {
  GuardedArray x = drawn(s.T * s.in, shift, 1), weight = drawn(s.out * s.in, shift, 2), bias = drawn(s.out, shift, 3),
               dy = drawn(s.T * s.out, shift, 4);
  GuardedArray y(s.T * s.out, shift), dx(s.T * s.in, shift);
  // Gradients are added to.
  GuardedArray dweight = drawn(s.out * s.in, shift, 5), dbias = drawn(s.out, shift, 6);
  forward(s, x.data(), weight.data(), bias.data(), y.data());
  backward(s, x.data(), weight.data(), dy.data(), {dx.data(), dweight.data(), dbias.data()});
  return written({&y, &dx, &dweight, &dbias});
}

double error(const LinearShape& s, std::size_t shift) {
  return worst_error(run(linear, linear_backward, s, shift),
                     run(linear_reference, linear_backward_reference, s, shift));
}

KERNEL_TEST(KernelsLinear, AgreesWithReference) {
  double worst = 0;
  for (const std::size_t in : {1, 3, 16, 17, 32, 33, 47, 64, 100})
    for (const std::size_t out : {1, 5, 15, 16, 31, 32, 48, 65})
      for (const std::size_t T : {1, 2, 6, 13, 14, 29}) {
        worst = std::max(worst, error({T, in, out}, in % 3));
        ASSERT_LE(worst, kTolerance) << "T " << T << " in " << in << " out " << out;
      }
}

KERNEL_TEST(KernelsLinear, AgreesWithReferenceOverBlocks) {
  // More rows than a block, more tokens than a block of a sum, and a matrix that is left to OpenBLAS.
  for (const LinearShape& s : {LinearShape{300, 64, 192}, LinearShape{513, 33, 20}, LinearShape{256, 40, 64},
                               LinearShape{140, 300, 30}, LinearShape{40, 600, 600}})
    EXPECT_LE(error(s, 1), kTolerance) << s.T << ' ' << s.in << ' ' << s.out;
}

TEST(KernelsLinear, ReferenceByHand) {
  const float x[] = {1, 10, 100, 1000}, weight[] = {2, 3, 5, 7, 11, 13}, bias[] = {0.5F, 0, -1},
              dy[] = {1, 0, 2, 0, 1, 0};
  float y[6], dx[4], dweight[6] = {1, 1, 1, 1, 1, 1}, dbias[3] = {1, 1, 1};
  linear_reference({2, 2, 3}, x, weight, bias, y);
  EXPECT_EQ(std::vector<float>(y, y + 6), (std::vector<float>{32.5F, 75, 140, 3200.5F, 7500, 14099}));
  linear_backward_reference({2, 2, 3}, x, weight, dy, {dx, dweight, dbias});
  EXPECT_EQ(std::vector<float>(dx, dx + 4), (std::vector<float>{24, 29, 5, 7}));
  EXPECT_EQ(std::vector<float>(dweight, dweight + 6), (std::vector<float>{2, 11, 101, 1001, 3, 21}));
  EXPECT_EQ(std::vector<float>(dbias, dbias + 3), (std::vector<float>{2, 2, 3}));
}

// Training on part of a batch or evaluating one sequence gives the same bits for a token.
KERNEL_TEST(KernelsLinear, ARowDoesNotDependOnItsPlace) {
  const std::size_t T = 140, in = 40, out = 50;
  GuardedArray x(T * in, 0), weight(out * in, 0), all(T * out, 0), one(out, 0);
  x.fill_normal(1);
  weight.fill_normal(2);
  linear({T, in, out}, x.data(), weight.data(), nullptr, all.data());
  for (const std::size_t t : {0, 13, 14, 125, 126, 139}) {
    linear({1, in, out}, x.data() + t * in, weight.data(), nullptr, one.data());
    EXPECT_EQ(one.values(), std::vector<float>(all.data() + t * out, all.data() + (t + 1) * out)) << "token " << t;
  }
}

KERNEL_TEST(KernelsLinear, GradientsThatNobodyWantsAreNotMade) {
  const float x[] = {1}, weight[] = {2}, dy[] = {3};
  float dx = 7;
  linear_backward({1, 1, 1}, x, weight, dy, {&dx, nullptr, nullptr});
  EXPECT_EQ(dx, 6);
  float dweight = 1;
  linear_backward({1, 1, 1}, x, weight, dy, {nullptr, &dweight, nullptr});
  EXPECT_EQ(dweight, 4);
}

}  // namespace
}  // namespace mneme::kernels
