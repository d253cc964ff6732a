// Sums of outer products over tokens, and transposition.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/kernel_arrays.h"
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dense/outer_products_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dense/outer_products-inl.h"

#ifndef MNEME_TESTS_OUTER_SUM
#define MNEME_TESTS_OUTER_SUM
namespace mneme::kernels {
namespace {

// c [M, N] += the sum over t < T of a[t, m] b[t, n]; rows are `gap` floats apart from the next.
struct OuterSum {
  std::size_t T, M, N, gap;
  const float *a = nullptr, *b = nullptr;
  float* c = nullptr;
};

}  // namespace
}  // namespace mneme::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

// In two parts, the first of a third of the tokens.
void outer_sum_simd(const OuterSum& s) {
  const std::size_t stride_a = s.M + s.gap, stride_b = s.N + s.gap, first = s.T / 3;
  OuterProducts products(s.T, s.M, s.N, s.c, s.N + s.gap);
  products.add(s.a, stride_a, s.b, stride_b, first);
  products.add(s.a + first * stride_a, stride_a, s.b + first * stride_b, stride_b, s.T - first);
  products.finish();
}

void transpose_simd(const float* from, std::size_t stride, std::size_t M, std::size_t N, float* to,
                    std::size_t to_stride, bool add) {
  transpose(from, stride, M, N, to, to_stride, add);
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(outer_sum_simd);
HWY_EXPORT(transpose_simd);

namespace {

using mneme::testing::GuardedArray;
using mneme::testing::relative_error;
using Kernel = std::function<void(const OuterSum&)>;

// Worst seen on any target: 4.9e-7.
constexpr double kTolerance = 2e-6;

void outer_sum(const OuterSum& s) { HWY_DYNAMIC_DISPATCH(outer_sum_simd)(s); }

void outer_sum_reference(const OuterSum& s) {
  for (std::size_t m = 0; m < s.M; ++m)
    for (std::size_t n = 0; n < s.N; ++n) {
      float& c = s.c[m * (s.N + s.gap) + n];
      double sum = c;
      for (std::size_t t = 0; t < s.T; ++t)
        sum += static_cast<double>(s.a[t * (s.M + s.gap) + m]) * s.b[t * (s.N + s.gap) + n];
      c = static_cast<float>(sum);
    }
}

double error(const Kernel& kernel, OuterSum s, std::size_t shift) {
  GuardedArray a(s.T * (s.M + s.gap), shift), b(s.T * (s.N + s.gap), shift);
  a.fill_normal(1);
  b.fill_normal(2);
  s.a = a.data(), s.b = b.data();
  const auto run = [&](const Kernel& which) {
    GuardedArray c(s.M * (s.N + s.gap), shift);
    for (std::size_t m = 0; m < s.M; ++m)
      for (std::size_t n = 0; n < s.N; ++n) c[m * (s.N + s.gap) + n] = static_cast<float>(m % 5) - 2.0F;
    s.c = c.data();
    which(s);
    return c.margins_intact() ? c.values() : std::vector<float>(c.size(), mneme::testing::kPoison);
  };
  return relative_error(run(kernel), run(outer_sum_reference));
}

KERNEL_TEST(KernelsOuterProducts, AgreeWithPlainLoops) {
  for (const std::size_t M : {1, 5, 13, 14, 16, 17, 33})
    for (const std::size_t N : {1, 7, 8, 15, 16, 31, 32, 48, 65})
      for (const std::size_t T : {1, 4, 63, 64, 65})  // from 64 tokens on the narrow matrix comes first
        EXPECT_LE(error(outer_sum, {T, M, N, T % 3}, N % 4), kTolerance) << T << ' ' << M << ' ' << N;
}

KERNEL_TEST(KernelsOuterProducts, AgreeWithPlainLoopsOverBlocksOfTokens) {
  for (const std::size_t T : {255, 256, 257, 600})
    for (const auto& [M, N] : {std::pair{20, 37}, {70, 9}, {48, 48}})
      EXPECT_LE(error(outer_sum, {T, static_cast<std::size_t>(M), static_cast<std::size_t>(N), 0}, 1), kTolerance)
          << T << ' ' << M << ' ' << N;
}

KERNEL_TEST(KernelsOuterProducts, TranspositionMovesEveryElement) {
  for (const std::size_t M : {1, 3, 4, 8, 15, 16, 17, 33})
    for (const std::size_t N : {1, 4, 7, 8, 16, 19, 32, 50})
      for (const bool add : {false, true}) {
        GuardedArray from(M * (N + 2), 1), to(N * (M + 3), 2);
        from.fill_normal(1);
        for (std::size_t j = 0; j < N; ++j)
          for (std::size_t i = 0; i < M; ++i)
            if (add) to[j * (M + 3) + i] = 4.0F;
        HWY_DYNAMIC_DISPATCH(transpose_simd)(from.data(), N + 2, M, N, to.data(), M + 3, add);
        EXPECT_TRUE(to.margins_intact());
        for (std::size_t j = 0; j < N; ++j) {
          for (std::size_t i = 0; i < M; ++i)
            ASSERT_EQ(to[j * (M + 3) + i], from[i * (N + 2) + j] + (add ? 4.0F : 0.0F)) << i << ' ' << j;
          for (std::size_t i = M; i < M + 3; ++i) ASSERT_TRUE(std::isnan(to[j * (M + 3) + i]));
        }
      }
}

KERNEL_TEST(KernelsOuterProducts, PlantedFaultsAreRejected) {
  const Kernel lost_token = [](OuterSum s) {
    --s.T;
    outer_sum(s);
  };
  const Kernel overwritten = [](const OuterSum& s) {
    for (std::size_t m = 0; m < s.M; ++m) std::fill_n(s.c + m * (s.N + s.gap), s.N, 0.0F);
    outer_sum(s);
  };
  const Kernel swapped = [](const OuterSum& s) {
    outer_sum(s);
    std::swap(s.c[0], s.c[s.N + s.gap]);
  };
  const Kernel nothing = [](const OuterSum&) {};
  for (const Kernel& wrong : {lost_token, overwritten, swapped, nothing})
    for (const std::size_t T : {9, 80}) EXPECT_GT(error(wrong, {T, 17, 9, 1}, 0), kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
#endif
