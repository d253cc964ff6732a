#include "kernels/scan/matrix_scan.h"

#include <algorithm>
#include <utility>

#include "kernels/simd/aligned_floats.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan/matrix_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Rows of the left factor that share a load of the right one.
constexpr std::size_t kRows = 4;

// out[i, j..j+lanes) (+)= sum_k a[i, k] b[k, j..] for kRows rows from i and two vectors of columns.
template <class D, std::size_t kVectors>
HWY_INLINE void tile(D d, const float* a, const float* b, std::size_t N, bool accumulate, float* out) {
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d);
  V sum[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t v = 0; v < kVectors; ++v)
      sum[r][v] = accumulate ? hn::LoadU(d, out + r * N + v * lanes) : hn::Zero(d);
  for (std::size_t k = 0; k < N; ++k) {
    V right[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) right[v] = hn::LoadU(d, b + k * N + v * lanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const V left = hn::Set(d, a[r * N + k]);
      for (std::size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
  }
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], d, out + r * N + v * lanes);
}

// One row at a time, for the last N mod kRows rows.
template <class D>
HWY_INLINE void row(D d, const float* a, const float* b, std::size_t N, bool accumulate, float* out) {
  auto sum = accumulate ? hn::LoadU(d, out) : hn::Zero(d);
  for (std::size_t k = 0; k < N; ++k) sum = hn::MulAdd(hn::Set(d, a[k]), hn::LoadU(d, b + k * N), sum);
  hn::StoreU(sum, d, out);
}

// out (+)= a b, all N x N.
void multiply(const float* a, const float* b, std::size_t N, bool accumulate, float* out) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + kRows <= N; i += kRows) {
    const float* left = a + i * N;
    float* target = out + i * N;
    std::size_t j = 0;
    for (; j + 2 * lanes <= N; j += 2 * lanes) tile<decltype(d), 2>(d, left, b + j, N, accumulate, target + j);
    for (; j + lanes <= N; j += lanes) tile<decltype(d), 1>(d, left, b + j, N, accumulate, target + j);
    for (; j < N; ++j) tile<decltype(one), 1>(one, left, b + j, N, accumulate, target + j);
  }
  for (; i < N; ++i) {
    std::size_t j = 0;
    for (; j + lanes <= N; j += lanes) row(d, a + i * N, b + j, N, accumulate, out + i * N + j);
    for (; j < N; ++j) row(one, a + i * N, b + j, N, accumulate, out + i * N + j);
  }
}

void transpose(const float* in, std::size_t N, float* out) {
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j) out[j * N + i] = in[i * N + j];
}

void matrix_scan_simd(const MatrixScanInput& in, float* all) {
  const std::size_t L = in.L, N = in.N, size = N * N;
  for (std::size_t b = 0; b < in.B; ++b) {
    const float* m = in.m + b * L * size;
    float* p = all + b * L * size;
    std::copy_n(m, size, p);
    for (std::size_t t = 1; t < L; ++t) multiply(p + (t - 1) * size, m + t * size, N, false, p + t * size);
  }
}

void matrix_scan_backward_simd(const MatrixScanInput& in, const float* p, const float* dout, float* dm) {
  const std::size_t L = in.L, N = in.N, size = N * N;
  AlignedFloats later(size), g(size), turned(size);
  for (std::size_t b = 0; b < in.B; ++b) {
    const std::size_t first = b * L * size;
    for (std::size_t t = L; t-- > 0;) {
      const std::size_t at = first + t * size;
      std::copy_n(dout + at, size, g.data());
      if (t + 1 < L) {
        transpose(in.m + at + size, N, turned.data());
        multiply(later.data(), turned.data(), N, true, g.data());
      }
      if (t > 0) {
        transpose(p + at - size, N, turned.data());
        multiply(turned.data(), g.data(), N, false, dm + at);
      } else {
        std::copy_n(g.data(), size, dm + at);
      }
      std::swap(g, later);
    }
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(matrix_scan_simd);
HWY_EXPORT(matrix_scan_backward_simd);

void matrix_scan(const MatrixScanInput& in, float* p) {
  if (use_reference()) return matrix_scan_reference(in, p);
  HWY_DYNAMIC_DISPATCH(matrix_scan_simd)(in, p);
}

void matrix_scan_backward(const MatrixScanInput& in, const float* p, const float* dout, float* dm) {
  if (use_reference()) return matrix_scan_backward_reference(in, p, dout, dm);
  HWY_DYNAMIC_DISPATCH(matrix_scan_backward_simd)(in, p, dout, dm);
}

}  // namespace mneme::kernels
#endif
