#include "kernels/attention/taylor_features.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::drawn;
using mneme::testing::expect_slopes;
using mneme::testing::GuardedArray;
using mneme::testing::kSizes;
using mneme::testing::relative_error;
using mneme::testing::weighed;

// Worst seen on any target: 3.1e-7 (100 channels). The reference works in double.
constexpr double kTolerance = 1e-6;
constexpr std::size_t kRows = 3;

using Forward = std::function<void(const float*, std::size_t, std::size_t, float*)>;
using Backward = std::function<void(const float*, const float*, std::size_t, std::size_t, float*)>;

double forward_error(const Forward& kernel, std::size_t F, std::size_t shift) {
  GuardedArray x = drawn(kRows * F, shift, 1);
  GuardedArray ours(kRows * taylor_features_width(F), shift), reference(ours.size(), shift);
  kernel(x.data(), kRows, F, ours.data());
  taylor_features_reference(x.data(), kRows, F, reference.data());
  EXPECT_TRUE(ours.margins_intact());
  return relative_error(ours.values(), reference.values());
}

double backward_error(const Backward& kernel, std::size_t F, std::size_t shift) {
  GuardedArray x = drawn(kRows * F, shift, 1), dphi = drawn(kRows * taylor_features_width(F), shift, 2);
  GuardedArray ours(kRows * F, shift), reference(kRows * F, shift);
  kernel(x.data(), dphi.data(), kRows, F, ours.data());
  taylor_features_backward_reference(x.data(), dphi.data(), kRows, F, reference.data());
  EXPECT_TRUE(ours.margins_intact());
  return relative_error(ours.values(), reference.values());
}

KERNEL_TEST(KernelsTaylorFeatures, AgreeWithReferenceAtEverySizeAndAlignment) {
  for (const std::size_t F : kSizes) {
    if (F > 100) continue;
    for (const std::size_t shift : {0, 1, 3, 7}) {
      EXPECT_LE(forward_error(taylor_features, F, shift), kTolerance) << F << " channels, shift " << shift;
      EXPECT_LE(backward_error(taylor_features_backward, F, shift), kTolerance) << F << " channels, shift " << shift;
    }
  }
}

KERNEL_TEST(KernelsTaylorFeatures, ProductsAreTheTaylorSeriesOfTheExponential) {
  const std::size_t F = 6, width = taylor_features_width(F);
  GuardedArray x = drawn(2 * F, 0, 5), phi(2 * width, 0);
  taylor_features_reference(x.data(), 2, F, phi.data());
  double s = 0, product = 0;
  for (std::size_t i = 0; i < F; ++i) s += static_cast<double>(x[i]) * x[F + i] / std::sqrt(static_cast<double>(F));
  for (std::size_t i = 0; i < width; ++i) product += static_cast<double>(phi[i]) * phi[width + i];
  EXPECT_NEAR(product, 1 + s + s * s / 2, 1e-6);
}

TEST(KernelsTaylorFeatures, ReferenceGradientIsADerivative) {
  const std::size_t F = 5, width = taylor_features_width(F);
  GuardedArray x = drawn(F, 0, 3), dphi = drawn(width, 0, 4), dx(F, 0), phi(width, 0);
  taylor_features_backward_reference(x.data(), dphi.data(), 1, F, dx.data());
  const auto loss = [&] {
    taylor_features_reference(x.data(), 1, F, phi.data());
    return weighed(phi, dphi);
  };
  expect_slopes(x, dx.values(), loss, 1e-4);
}

KERNEL_TEST(KernelsTaylorFeatures, PlantedFaultsAreRejected) {
  const Forward no_diagonal = [](const float* x, std::size_t R, std::size_t F, float* phi) {
    taylor_features(x, R, F, phi);
    phi[1 + F] *= 1.41421356F;
  };
  const Forward skipped_tail = [](const float* x, std::size_t R, std::size_t F, float* phi) {
    taylor_features(x, R, F, phi);
    phi[R * taylor_features_width(F) - 1] = 0.0F;
  };
  const Backward zeros = [](const float*, const float*, std::size_t R, std::size_t F, float* dx) {
    std::fill(dx, dx + R * F, 0.0F);
  };
  EXPECT_GT(forward_error(no_diagonal, 17, 0), kTolerance);
  EXPECT_GT(forward_error(skipped_tail, 17, 0), kTolerance);
  EXPECT_GT(backward_error(zeros, 17, 0), kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
