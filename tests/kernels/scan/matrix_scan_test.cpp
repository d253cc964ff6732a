#include "kernels/scan/matrix_scan.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::drawn;
using mneme::testing::GuardedArray;
using mneme::testing::worst_error;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen on any target: 3.5e-7. The reference works in double, but its products are those of whole sequences.
constexpr double kTolerance = 1e-6;

using Forward = std::function<void(const MatrixScanInput&, float*)>;
using Backward = std::function<void(const MatrixScanInput&, const float*, const float*, float*)>;

struct Shape {
  std::size_t B, L, N;
};

Written run(
    const Forward& forward, const Backward& backward, const Shape& sizes, std::size_t shift,
    const std::function<void(GuardedArray&)>& prepare = [](GuardedArray&) {}) {
  const std::size_t size = sizes.B * sizes.L * sizes.N * sizes.N;
  GuardedArray m(size, shift), dp(size, shift), p(size, shift), dm(size, shift);
  // Random matrices of this scale keep the size of a vector.
  m.fill_normal(1, 1.0 / std::sqrt(static_cast<double>(sizes.N)));
  dp.fill_normal(2);
  prepare(m);
  const MatrixScanInput in{sizes.B, sizes.L, sizes.N, m.data()};
  forward(in, p.data());
  backward(in, p.data(), dp.data(), dm.data());
  return written({&p, &dm});
}

bool agrees(const Forward& forward, const Backward& backward, const Shape& sizes, std::size_t shift) {
  return worst_error(run(forward, backward, sizes, shift),
                     run(matrix_scan_reference, matrix_scan_backward_reference, sizes, shift)) <= kTolerance;
}

KERNEL_TEST(KernelsMatrixScan, AgreesWithReferenceAtEverySizeAndAlignment) {
  for (const std::size_t order : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 37})
    for (const std::size_t length : {1, 2, 6})
      for (const std::size_t shift : {0, 3})
        EXPECT_TRUE(agrees(matrix_scan, matrix_scan_backward, {2, length, order}, shift))
            << "order " << order << ", " << length << " steps, shift " << shift;
}

TEST(KernelsMatrixScan, ReferenceGradientsAreDerivatives) {
  const Shape sizes{1, 3, 2};
  GuardedArray dp(12, 0);
  dp.fill_normal(2);
  const auto loss = [&](std::size_t i, float by) {
    const Written result =
        run(matrix_scan_reference, matrix_scan_backward_reference, sizes, 0, [&](GuardedArray& m) { m[i] += by; });
    double sum = 0;
    for (std::size_t n = 0; n < result.arrays[0].size(); ++n) sum += static_cast<double>(result.arrays[0][n]) * dp[n];
    return sum;
  };
  const Written base = run(matrix_scan_reference, matrix_scan_backward_reference, sizes, 0);
  // The product is linear in each entry: differences have no error but rounding.
  for (std::size_t i = 0; i < base.arrays[1].size(); ++i)
    EXPECT_NEAR(base.arrays[1][i], loss(i, 0.5F) - loss(i, -0.5F), 1e-5);
}

KERNEL_TEST(KernelsMatrixScan, PlantedFaultsAreRejected) {
  const Shape sizes{2, 4, 9};
  const Forward factors_only = [](const MatrixScanInput& in, float* p) {
    std::copy_n(in.m, in.B * in.L * in.N * in.N, p);
  };
  const Forward restarted = [](const MatrixScanInput& in, float* p) { matrix_scan({1, in.B * in.L, in.N, in.m}, p); };
  const Backward skipped_tail = [](const MatrixScanInput& in, const float* p, const float* dout, float* dm) {
    matrix_scan_backward(in, p, dout, dm);
    dm[8] = 0;
  };
  for (const Forward& wrong : {factors_only, restarted}) EXPECT_FALSE(agrees(wrong, matrix_scan_backward, sizes, 0));
  EXPECT_FALSE(agrees(matrix_scan, skipped_tail, sizes, 0));
}

}  // namespace
}  // namespace mneme::kernels
