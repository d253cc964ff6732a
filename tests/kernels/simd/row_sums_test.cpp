// Sums over rows and across the lanes of vectors.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "kernels/harness.h"
#include "kernels/simd/aligned_floats.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/row_sums_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

std::size_t lanes_simd() { return hn::Lanes(hn::ScalableTag<float>()); }

void row_sums_simd(const float* partial, std::size_t rows, float* sums) {
  row_sums(hn::ScalableTag<float>(), partial, rows, sums);
}

float row_dot_simd(const float* a, const float* b, std::size_t count) {
  return row_dot(hn::ScalableTag<float>(), a, b, count);
}

void add_rows_simd(const float* rows, std::size_t stride, std::size_t T, std::size_t N, float* sums) {
  add_rows(rows, stride, T, N, sums);
}

// to = 2 from + 1
void for_row_simd(const float* from, std::size_t count, float* to) {
  for_row(count, [&](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::MulAdd(hn::LoadU(d, from + i), hn::Set(d, 2.0F), hn::Set(d, 1.0F)), d, to + i);
  });
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(lanes_simd);
HWY_EXPORT(row_sums_simd);
HWY_EXPORT(row_dot_simd);
HWY_EXPORT(add_rows_simd);
HWY_EXPORT(for_row_simd);

namespace {

using mneme::testing::drawn;
using mneme::testing::GuardedArray;
using mneme::testing::kSizes;
using mneme::testing::relative_error;

// Worst seen on any target: 7.7e-8 of the terms (dot product).
constexpr double kTolerance = 1e-6;

KERNEL_TEST(KernelsRowSums, LaneIHasTheSumOfRowI) {
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(lanes_simd)();
  for (const std::size_t rows : {1, 2, 3, 4, 5, 8, 15, 16, 17, 33}) {
    const std::size_t room = (rows + lanes - 1) / lanes * lanes;
    GuardedArray partial = drawn(room * lanes, 1, 1), sums(room, 3);
    // What is in the rows beyond does not matter.
    for (std::size_t i = rows * lanes; i < room * lanes; ++i) partial[i] = mneme::testing::kPoison;
    HWY_DYNAMIC_DISPATCH(row_sums_simd)(partial.data(), rows, sums.data());
    EXPECT_TRUE(sums.margins_intact());
    std::vector<float> ours, reference;
    for (std::size_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < lanes; ++j) sum += static_cast<double>(partial[i * lanes + j]);
      ours.push_back(sums[i]);
      reference.push_back(static_cast<float>(sum));
    }
    EXPECT_LE(relative_error(ours, reference), kTolerance) << rows;
    // A sum that is in the wrong lane is an error.
    if (rows > 1) {
      std::swap(ours[0], ours[rows - 1]);
      EXPECT_GT(relative_error(ours, reference), kTolerance);
    }
  }
}

KERNEL_TEST(KernelsRowSums, DotProductOfAnyLength) {
  for (const std::size_t count : kSizes)
    for (const std::size_t shift : {0, 1, 5}) {
      GuardedArray a = drawn(count, shift, 1), b = drawn(count, shift + 1, 2);
      double sum = 0, terms = 0;
      for (std::size_t i = 0; i < count; ++i) {
        sum += static_cast<double>(a[i]) * b[i];
        terms += std::abs(static_cast<double>(a[i]) * b[i]);
      }
      const double ours = HWY_DYNAMIC_DISPATCH(row_dot_simd)(a.data(), b.data(), count);
      EXPECT_LE(mneme::testing::noted(std::abs(ours - sum) / terms), kTolerance) << count;
      // Without its last term it is another number.
      const double shorter = HWY_DYNAMIC_DISPATCH(row_dot_simd)(a.data(), b.data(), count - 1);
      EXPECT_NE(shorter, ours);
    }
}

KERNEL_TEST(KernelsRowSums, RowsAreAddedToWhatIsThere) {
  for (const std::size_t N : kSizes)
    for (const std::size_t T : {1, 2, 3, 4, 5, 8, 11}) {
      const std::size_t stride = N + 3;
      GuardedArray rows = drawn(T * stride, 1, 1), sums = drawn(N, 2, 2);
      std::vector<float> reference, without_last;
      for (std::size_t i = 0; i < N; ++i) {
        double sum = sums[i];
        for (std::size_t t = 0; t < T; ++t) sum += static_cast<double>(rows[t * stride + i]);
        reference.push_back(static_cast<float>(sum));
        without_last.push_back(static_cast<float>(sum - static_cast<double>(rows[(T - 1) * stride + i])));
      }
      HWY_DYNAMIC_DISPATCH(add_rows_simd)(rows.data(), stride, T, N, sums.data());
      EXPECT_TRUE(sums.margins_intact());
      EXPECT_LE(relative_error(sums.values(), reference), kTolerance) << T << ' ' << N;
      EXPECT_GT(relative_error(without_last, reference), kTolerance);
    }
}

// The last few lanes go through the same operations as the others: the bits are those of plain code.
KERNEL_TEST(KernelsRowSums, ForRowVisitsEveryElementOnce) {
  for (const std::size_t count : kSizes) {
    GuardedArray from = drawn(count, 1, 1), to(count, 2);
    HWY_DYNAMIC_DISPATCH(for_row_simd)(from.data(), count, to.data());
    EXPECT_TRUE(to.margins_intact());
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(to[i], 2.0F * from[i] + 1.0F) << count << ' ' << i;
  }
}

}  // namespace
}  // namespace mneme::kernels
#endif
