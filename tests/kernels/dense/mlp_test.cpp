#include "kernels/dense/mlp.h"

#include <gtest/gtest.h>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::drawn;
using mneme::testing::GuardedArray;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen on any target: 1.6e-6.
constexpr double kTolerance = 3e-6;

struct Sizes {
  std::size_t T, D, H;
};

Written run(decltype(&mlp) forward, decltype(&mlp_backward) backward, const Sizes& s, std::size_t shift,
            double deviation) {
  const auto array = [&](std::size_t count, std::uint64_t seed, double by = 1.0) {
    return drawn(count, shift, seed, by);
  };
  GuardedArray x = array(s.T * s.D, 1), weight1 = array(s.H * s.D, 2, deviation), bias1 = array(s.H, 3),
               weight2 = array(s.D * s.H, 4), bias2 = array(s.D, 5), dy = array(s.T * s.D, 6);
  GuardedArray h(s.T * s.H, shift), y(s.T * s.D, shift), dx(s.T * s.D, shift);
  // Gradients are added to.
  GuardedArray dweight1 = array(s.H * s.D, 7), dbias1 = array(s.H, 8), dweight2 = array(s.D * s.H, 9),
               dbias2 = array(s.D, 10);
  const MlpInput in{s.T, s.D, s.H, x.data(), weight1.data(), bias1.data(), weight2.data(), bias2.data()};
  forward(in, y.data(), {h.data()});
  backward(in, {h.data()}, dy.data(), {dx.data(), dweight1.data(), dbias1.data(), dweight2.data(), dbias2.data()});
  return written({&h, &y, &dx, &dweight1, &dbias1, &dweight2, &dbias2});
}

// Relative to the largest value, or to 1: GELU is exact to 2e-7 of that, not of its own tail.
double difference(const std::vector<float>& ours, const std::vector<float>& reference) {
  double worst = 0, scale = 1;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (!std::isfinite(ours[i])) return INFINITY;
    worst = std::max(worst, std::abs(static_cast<double>(ours[i]) - reference[i]));
    scale = std::max(scale, std::abs(static_cast<double>(reference[i])));
  }
  return mneme::testing::noted(worst / scale);
}

double error(const Sizes& s, std::size_t shift, double deviation) {
  const Written ours = run(mlp, mlp_backward, s, shift, deviation);
  const Written reference = run(mlp_reference, mlp_backward_reference, s, shift, deviation);
  if (!ours.margins) return INFINITY;
  double worst = 0;
  for (std::size_t i = 0; i < ours.arrays.size(); ++i)
    worst = std::max(worst, difference(ours.arrays[i], reference.arrays[i]));
  return worst;
}

KERNEL_TEST(KernelsMlp, AgreesWithReference) {
  double worst = 0;
  for (const std::size_t D : {1, 5, 16, 33})
    for (const std::size_t H : {1, 7, 32, 70})
      for (const std::size_t T : {1, 3, 14, 20})
        // Small hidden values, where GELU bends, and large ones, where it is flat.
        for (const double deviation : {0.3, 3.0}) worst = std::max(worst, error({T, D, H}, D % 3, deviation));
  EXPECT_LE(worst, kTolerance);
  EXPECT_GT(worst, 0);
}

KERNEL_TEST(KernelsMlp, AgreesWithReferenceOverBlocks) {
  for (const Sizes& s : {Sizes{252, 8, 16}, Sizes{253, 16, 64}, Sizes{600, 20, 30}, Sizes{130, 4, 520}})
    EXPECT_LE(error(s, 1, 1.0), kTolerance) << s.T << ' ' << s.D << ' ' << s.H;
}

TEST(KernelsMlp, ReferenceByHand) {
  // gelu(1) = 0.8413447; its slope there is 0.8413447 + 0.2419707.
  const float x[] = {2}, weight1[] = {0.5F}, bias1[] = {0}, weight2[] = {10}, bias2[] = {1}, dy[] = {1};
  float h = 0, y = 0, dx = 0, dweight1 = 0, dbias1 = 0, dweight2 = 0, dbias2 = 0;
  const MlpInput in{1, 1, 1, x, weight1, bias1, weight2, bias2};
  mlp_reference(in, &y, {&h});
  EXPECT_EQ(h, 1);
  EXPECT_NEAR(y, 9.413447, 1e-5);
  mlp_backward_reference(in, {&h}, dy, {&dx, &dweight1, &dbias1, &dweight2, &dbias2});
  EXPECT_NEAR(dweight2, 0.8413447, 1e-6);
  EXPECT_NEAR(dbias2, 1, 1e-6);
  EXPECT_NEAR(dbias1, 10.833154, 1e-5);
  EXPECT_NEAR(dweight1, 21.666308, 1e-5);
  EXPECT_NEAR(dx, 5.416577, 1e-5);
}

KERNEL_TEST(KernelsMlp, NothingBreaksFarFromZero) {
  // e^(-x^2 / 2) is nothing there, and gelu is 0 or x.
  const float x[] = {1}, bias1[] = {0}, weight2[] = {1}, bias2[] = {0};
  for (const float far : {-1e4F, -90.0F, -15.0F, 15.0F, 90.0F, 1e4F}) {
    float h = 0, y = 0;
    mlp({1, 1, 1, x, &far, bias1, weight2, bias2}, &y, {&h});
    EXPECT_EQ(h, far);
    EXPECT_NEAR(y, far > 0 ? far : 0, 1e-6 * std::abs(far)) << far;
  }
}

}  // namespace
}  // namespace mneme::kernels
