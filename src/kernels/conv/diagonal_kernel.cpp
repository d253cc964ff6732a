#include "kernels/conv/diagonal_kernel.h"

#include <algorithm>

#include "kernels/simd/aligned_floats.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/diagonal_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/conv/complex_doubles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Modes that run side by side, so that the processor need not wait for one product to start the next.
constexpr std::size_t kModes = 4;

// `count` channels of row k of [N, H]; zeros beyond them and for rows that do not exist.
template <class Number>
HWY_INLINE ComplexDoubles load(const ComplexArray<Number>& array, const DiagonalKernelShape& shape, std::size_t k,
                               std::size_t h, std::size_t count) {
  const Doubles d;
  HWY_ALIGN double re[hn::MaxLanes(Doubles())] = {}, im[hn::MaxLanes(Doubles())] = {};
  if (k < shape.N) {
    std::copy_n(array.re + k * shape.H + h, count, re);
    std::copy_n(array.im + k * shape.H + h, count, im);
  }
  return {hn::Load(d, re), hn::Load(d, im)};
}

HWY_INLINE void store(const ComplexDoubles& value, const ComplexArray<double>& array, const DiagonalKernelShape& shape,
                      std::size_t k, std::size_t h, std::size_t count) {
  if (k >= shape.N) return;
  const Doubles d;
  HWY_ALIGN double re[hn::MaxLanes(Doubles())], im[hn::MaxLanes(Doubles())];
  hn::Store(value.re, d, re);
  hn::Store(value.im, d, im);
  std::copy_n(re, count, array.re + k * shape.H + h);
  std::copy_n(im, count, array.im + k * shape.H + h);
}

void diagonal_kernel_simd(const DiagonalKernelInput& in, float* out) {
  const Doubles d;
  const auto [L, N, H] = in.shape;
  const std::size_t lanes = hn::Lanes(d);
  const AlignedDoubles sums(L * lanes, kUnset);
  for (std::size_t h = 0; h < H; h += lanes) {
    const std::size_t count = std::min(lanes, H - h);
    std::fill_n(sums.data(), L * lanes, 0.0);
    for (std::size_t k = 0; k < N; k += kModes) {
      ComplexDoubles term[kModes], pole[kModes];
      for (std::size_t m = 0; m < kModes; ++m) {
        term[m] = load(in.w, in.shape, k + m, h, count);
        pole[m] = load(in.pole, in.shape, k + m, h, count);
      }
      for (std::size_t j = 0; j < L; ++j) {
        auto sum = hn::Load(d, sums + j * lanes);
        for (std::size_t m = 0; m < kModes; ++m) {
          sum = hn::Add(sum, term[m].re);
          term[m] = times(term[m], pole[m]);
        }
        hn::Store(sum, d, sums + j * lanes);
      }
    }
    for (std::size_t j = 0; j < L; ++j)
      for (std::size_t i = 0; i < count; ++i) out[j * H + h + i] = static_cast<float>(2.0 * sums[j * lanes + i]);
  }
}

void diagonal_kernel_backward_simd(const DiagonalKernelInput& in, const float* dout,
                                   const DiagonalKernelGradients& to) {
  const Doubles d;
  const auto [L, N, H] = in.shape;
  const std::size_t lanes = hn::Lanes(d);
  const AlignedDoubles gradients(L * lanes);
  for (std::size_t h = 0; h < H; h += lanes) {
    const std::size_t count = std::min(lanes, H - h);
    for (std::size_t j = 0; j < L; ++j)
      for (std::size_t i = 0; i < count; ++i) gradients[j * lanes + i] = 2.0 * dout[j * H + h + i];
    for (std::size_t k = 0; k < N; k += kModes) {
      // Horner's scheme for the polynomial and its derivative: one product each, no power is formed.
      ComplexDoubles pole[kModes], value[kModes], slope[kModes];
      for (std::size_t m = 0; m < kModes; ++m) {
        pole[m] = load(in.pole, in.shape, k + m, h, count);
        value[m] = slope[m] = {hn::Zero(d), hn::Zero(d)};
      }
      for (std::size_t j = L; j-- > 0;) {
        const auto g = hn::Load(d, gradients + j * lanes);
        for (std::size_t m = 0; m < kModes; ++m) {
          slope[m] = times(slope[m], pole[m]);
          slope[m].re = hn::Add(slope[m].re, value[m].re);
          slope[m].im = hn::Add(slope[m].im, value[m].im);
          value[m] = times(value[m], pole[m]);
          value[m].re = hn::Add(value[m].re, g);
        }
      }
      for (std::size_t m = 0; m < kModes; ++m) {
        slope[m] = times(slope[m], load(in.w, in.shape, k + m, h, count));
        store({value[m].re, hn::Neg(value[m].im)}, to.dw, in.shape, k + m, h, count);
        store({slope[m].re, hn::Neg(slope[m].im)}, to.dpole, in.shape, k + m, h, count);
      }
    }
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(diagonal_kernel_simd);
HWY_EXPORT(diagonal_kernel_backward_simd);

void diagonal_kernel(const DiagonalKernelInput& in, float* out) {
  if (use_reference()) return diagonal_kernel_reference(in, out);
  HWY_DYNAMIC_DISPATCH(diagonal_kernel_simd)(in, out);
}

void diagonal_kernel_backward(const DiagonalKernelInput& in, const float* dout,
                              const DiagonalKernelGradients& gradients) {
  if (use_reference()) return diagonal_kernel_backward_reference(in, dout, gradients);
  HWY_DYNAMIC_DISPATCH(diagonal_kernel_backward_simd)(in, dout, gradients);
}

}  // namespace mneme::kernels
#endif
