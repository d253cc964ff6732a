// Products of matrices, without the kernels that are made of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/kernel_arrays.h"
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dense/matmul_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dense/matmul-inl.h"

#ifndef MNEME_TESTS_MATMUL_PRODUCT
#define MNEME_TESTS_MATMUL_PRODUCT
namespace mneme::kernels {
namespace {

// c [M, N] (+)= a [M, K] b [K, N] + bias. A matrix that is transposed in memory has its rows along the other axis.
struct Product {
  std::size_t M, K, N;
  bool a_transposed = false, b_transposed = false, add = false;
  const float *a = nullptr, *b = nullptr, *bias = nullptr;
  float* c = nullptr;
  std::size_t gap = 0;  // floats between the rows of every matrix

  std::size_t a_stride() const { return (a_transposed ? M : K) + gap; }
  std::size_t b_stride() const { return (b_transposed ? K : N) + gap; }
  std::size_t c_stride() const { return N + gap; }
};

}  // namespace
}  // namespace mneme::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

Left left_of(const Product& p) { return p.a_transposed ? Left{p.a, 1, p.a_stride()} : Left{p.a, p.a_stride(), 1}; }

void pack_product(const Product& p, Panels& panels) {
  if (p.b_transposed)
    panels.pack_transposed(p.b, p.b_stride(), p.bias);
  else
    panels.pack(p.b, p.b_stride(), p.bias);
}

void product_simd(const Product& p) {
  Panels panels(p.K, p.N);
  pack_product(p, panels);
  multiply(left_of(p), p.M, panels, p.c, p.c_stride(), p.add);
}

// The same from the first K rows and N columns of a larger matrix in panels.
void section_simd(const Product& p) {
  Panels panels(p.K + 3, p.N + 5);
  panels.clear();
  if (p.b_transposed)
    for (std::size_t n = 0; n < p.N; ++n)
      for (std::size_t k = 0; k < p.K; ++k) panels.row(n, k)[n % kPanelColumns] = p.b[n * p.b_stride() + k];
  else
    for (std::size_t k = 0; k < p.K; ++k)
      for (std::size_t n = 0; n < p.N; ++n) panels.row(n, k)[n % kPanelColumns] = p.b[k * p.b_stride() + n];
  multiply(left_of(p), p.M, Section{panels, p.K, p.N}, p.c, p.c_stride(), p.add);
}

// b comes back as it was packed, its rows times 2 and then times 1, 2, 3, ...
void unpack_simd(const Product& p) {
  Panels panels(p.K, p.N), other(p.K, p.N);
  pack_product(p, panels);
  panels.scale(2.0F);
  std::vector<float> by(p.K);
  for (std::size_t k = 0; k < p.K; ++k) by[k] = static_cast<float>(k + 1);
  other.scale_rows_of(panels, by.data());
  for (float& factor : by) factor = 0.5F;
  other.scale_rows(by.data(), p.K);
  other.unpack(p.c, p.c_stride());
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(product_simd);
HWY_EXPORT(section_simd);
HWY_EXPORT(unpack_simd);

namespace {

using mneme::testing::GuardedArray;
using mneme::testing::relative_error;
using Kernel = std::function<void(const Product&)>;

// Worst seen on any target: 6.6e-7.
constexpr double kTolerance = 2e-6;

void product(const Product& p) { HWY_DYNAMIC_DISPATCH(product_simd)(p); }
void section(const Product& p) { HWY_DYNAMIC_DISPATCH(section_simd)(p); }
void unpack(const Product& p) { HWY_DYNAMIC_DISPATCH(unpack_simd)(p); }

float element_of_b(const Product& p, std::size_t k, std::size_t n) {
  return p.b_transposed ? p.b[n * p.b_stride() + k] : p.b[k * p.b_stride() + n];
}

void product_reference(const Product& p) {
  for (std::size_t m = 0; m < p.M; ++m)
    for (std::size_t n = 0; n < p.N; ++n) {
      float& c = p.c[m * p.c_stride() + n];
      double sum = (p.add ? static_cast<double>(c) : 0.0) + (p.bias ? p.bias[n] : 0.0F);
      for (std::size_t k = 0; k < p.K; ++k)
        sum += static_cast<double>(p.a_transposed ? p.a[k * p.a_stride() + m] : p.a[m * p.a_stride() + k]) *
               element_of_b(p, k, n);
      c = static_cast<float>(sum);
    }
}

// Infinite if anything but the elements of c was written.
double error(const Kernel& kernel, Product p, std::size_t shift, bool with_bias) {
  GuardedArray a((p.a_transposed ? p.K : p.M) * p.a_stride(), shift),
      b((p.b_transposed ? p.N : p.K) * p.b_stride(), shift), bias(p.N, shift);
  a.fill_normal(1);
  b.fill_normal(2);
  bias.fill_normal(3);
  p.a = a.data(), p.b = b.data(), p.bias = with_bias ? bias.data() : nullptr;
  const auto run = [&](const Kernel& which) {
    GuardedArray c(p.M * p.c_stride(), shift);
    if (p.add)
      for (std::size_t m = 0; m < p.M; ++m)
        for (std::size_t n = 0; n < p.N; ++n) c[m * p.c_stride() + n] = static_cast<float>(m + n);
    p.c = c.data();
    which(p);
    return c.margins_intact() ? c.values() : std::vector<float>(c.size(), mneme::testing::kPoison);
  };
  return relative_error(run(kernel), run(product_reference));
}

const std::vector<std::size_t> kColumns = {1, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 47, 65};

KERNEL_TEST(KernelsMatmul, AgreesWithPlainLoops) {
  for (const std::size_t N : kColumns)
    for (const std::size_t K : {1, 7, 16, 33})
      for (const std::size_t M : {1, 5, 6, 7, 13, 14, 15, 29})
        for (const bool a_transposed : {false, true})
          for (const bool b_transposed : {false, true}) {
            Product p{M, K, N, a_transposed, b_transposed, (M + N) % 2 == 0};
            p.gap = K % 3;
            EXPECT_LE(error(product, p, N % 4, M % 2 == 0), kTolerance) << M << ' ' << K << ' ' << N;
          }
}

KERNEL_TEST(KernelsMatmul, AgreesWithPlainLoopsOverBlocksOfRows) {
  for (const std::size_t M : {125, 126, 127, 139, 140, 141, 300})
    EXPECT_LE(error(product, {M, 20, 37}, 1, true), kTolerance) << M;
}

KERNEL_TEST(KernelsMatmul, SectionsOfAMatrixAgreeWithPlainLoops) {
  for (const std::size_t N : kColumns)
    for (const bool b_transposed : {false, true})
      EXPECT_LE(error(section, {9, 6, N, false, b_transposed, N % 2 == 0}, N % 4, false), kTolerance) << N;
}

KERNEL_TEST(KernelsMatmul, PanelsHoldWhatWasPacked) {
  for (const std::size_t N : kColumns)
    for (const std::size_t K : {1, 4, 15, 16, 17, 35})
      for (const bool b_transposed : {false, true}) {
        Product p{1, K, N, false, b_transposed};
        p.gap = 2;
        GuardedArray b((b_transposed ? N : K) * p.b_stride(), 1), c(K * p.c_stride(), 1);
        b.fill_normal(2);
        p.b = b.data(), p.c = c.data();
        unpack(p);
        EXPECT_TRUE(c.margins_intact());
        for (std::size_t k = 0; k < K; ++k)
          for (std::size_t n = 0; n < N; ++n)
            ASSERT_EQ(c[k * p.c_stride() + n], element_of_b(p, k, n) * static_cast<float>(k + 1)) << k << ' ' << n;
      }
}

// The promise of the header: the bits of a row depend on that row alone.
KERNEL_TEST(KernelsMatmul, ARowDoesNotDependOnItsPlace) {
  const std::size_t M = 160, K = 19, N = 21;
  GuardedArray a(M * K, 1), b(K * N, 1), all(M * N, 1), one(N, 0);
  a.fill_normal(1);
  b.fill_normal(2);
  Product p{M, K, N};
  p.a = a.data(), p.b = b.data(), p.c = all.data();
  product(p);
  for (const std::size_t m : {0, 5, 6, 13, 14, 125, 126, 139, 159}) {
    Product single{1, K, N};
    single.a = a.data() + m * K, single.b = b.data(), single.c = one.data();
    product(single);
    EXPECT_EQ(one.values(), std::vector<float>(all.data() + m * N, all.data() + (m + 1) * N)) << m;
  }
}

KERNEL_TEST(KernelsMatmul, PlantedFaultsAreRejected) {
  const Kernel lost_column = [](const Product& p) {
    product(p);
    p.c[p.N - 1] = 0.0F;
  };
  const Kernel no_bias = [](Product p) {
    p.bias = nullptr;
    product(p);
  };
  const Kernel overwritten = [](Product p) {
    p.add = false;
    product(p);
  };
  const Kernel zeros = [](const Product& p) {
    for (std::size_t m = 0; m < p.M; ++m) std::fill_n(p.c + m * p.c_stride(), p.N, 0.0F);
  };
  const Kernel beyond = [](const Product& p) {
    product(p);
    p.c[p.N] = 0.0F;  // in the gap between rows
  };
  for (const Kernel& wrong : {lost_column, no_bias, overwritten, zeros, beyond}) {
    Product p{9, 8, 17, false, false, true};
    p.gap = 1;
    EXPECT_GT(error(wrong, p, 0, true), kTolerance);
  }
  // Without its last term, and with the strides as they were.
  Product p{9, 8, 17, false, true, false};
  const Kernel shorter = [](Product q) {
    std::vector<float> a(q.a, q.a + q.M * q.K);
    for (std::size_t m = 0; m < q.M; ++m) a[m * q.K + q.K - 1] = 0.0F;
    q.a = a.data();
    product(q);
  };
  EXPECT_GT(error(shorter, p, 0, true), kTolerance);
  EXPECT_LE(error(product, p, 0, true), kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
#endif
