// Fourier transforms of real sequences, one per lane: every vector holds one step of as many channels.
//
// A transform of N = 2M real steps is one of M complex ones (even steps real, odd steps imaginary) and a pass that
// disentangles the two. The complex transform is radix 4, in place; its output stays in the order in which the
// butterflies leave it, and the passes look up where frequency k lies. Recursion goes depth first, so that parts
// of a long transform stay in the cache.
#if defined(MNEME_KERNELS_REAL_TRANSFORM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MNEME_KERNELS_REAL_TRANSFORM_INL
#undef MNEME_KERNELS_REAL_TRANSFORM_INL
#else
#define MNEME_KERNELS_REAL_TRANSFORM_INL
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "kernels/transform_tables.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using TransformFloats = hn::ScalableTag<float>;
using TransformVector = hn::Vec<TransformFloats>;

struct ComplexVector {
  TransformVector re, im;
};

HWY_INLINE ComplexVector operator+(ComplexVector a, ComplexVector b) { return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)}; }
HWY_INLINE ComplexVector operator-(ComplexVector a, ComplexVector b) { return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)}; }
HWY_INLINE ComplexVector operator*(ComplexVector a, ComplexVector b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)), hn::MulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}
HWY_INLINE ComplexVector conjugate(ComplexVector a) { return {a.re, hn::Neg(a.im)}; }
HWY_INLINE ComplexVector times_i(ComplexVector a) { return {hn::Neg(a.im), a.re}; }

// Complex vectors, real and imaginary parts beside each other so that one step is one place in memory.
struct ComplexColumn {
  float* data;
  std::size_t lanes;

  HWY_INLINE ComplexVector operator[](std::size_t i) const {
    const TransformFloats d;
    return {hn::Load(d, data + 2 * i * lanes), hn::Load(d, data + (2 * i + 1) * lanes)};
  }
  HWY_INLINE void set(std::size_t i, ComplexVector value) const {
    const TransformFloats d;
    hn::Store(value.re, d, data + 2 * i * lanes);
    hn::Store(value.im, d, data + (2 * i + 1) * lanes);
  }
  ComplexColumn from(std::size_t i) const { return {data + 2 * i * lanes, lanes}; }
};

HWY_INLINE ComplexVector broadcast(Twiddle w) {
  const TransformFloats d;
  return {hn::Set(d, w.re), hn::Set(d, w.im)};
}

// x <- its transform of n steps; frequency 4 k + r goes to quarter r.
HWY_INLINE void forward_butterflies(ComplexColumn x, std::size_t n, const Twiddle* w) {
  const std::size_t q = n / 4;
  for (std::size_t j = 0; j < q; ++j, w += 3) {
    const ComplexVector a0 = x[j], a1 = x[j + q], a2 = x[j + 2 * q], a3 = x[j + 3 * q];
    const ComplexVector even = a0 + a2, odd = a1 + a3, across = a0 - a2, turned = times_i(a3 - a1);
    x.set(j, even + odd);
    x.set(j + q, (across + turned) * broadcast(w[0]));
    x.set(j + 2 * q, (even - odd) * broadcast(w[1]));
    x.set(j + 3 * q, (across - turned) * broadcast(w[2]));
  }
}

// Undoes forward_butterflies but for a factor of 4.
HWY_INLINE void backward_butterflies(ComplexColumn x, std::size_t n, const Twiddle* w) {
  const std::size_t q = n / 4;
  for (std::size_t j = 0; j < q; ++j, w += 3) {
    const ComplexVector b0 = x[j], b1 = x[j + q] * conjugate(broadcast(w[0]));
    const ComplexVector b2 = x[j + 2 * q] * conjugate(broadcast(w[1])), b3 = x[j + 3 * q] * conjugate(broadcast(w[2]));
    const ComplexVector even = b0 + b2, odd = b1 + b3, across = b0 - b2, turned = times_i(b1 - b3);
    x.set(j, even + odd);
    x.set(j + q, across + turned);
    x.set(j + 2 * q, even - odd);
    x.set(j + 3 * q, across - turned);
  }
}

HWY_INLINE void exchange(ComplexColumn x) {
  const ComplexVector a = x[0], b = x[1];
  x.set(0, a + b);
  x.set(1, a - b);
}

void transform(ComplexColumn x, std::size_t n, const TransformTables& tables) {
  if (n == 1) return;
  if (n == 2) return exchange(x);
  forward_butterflies(x, n, tables.butterflies(n));
  for (std::size_t quarter = 0; quarter < 4; ++quarter) transform(x.from(quarter * n / 4), n / 4, tables);
}

void transform_back(ComplexColumn x, std::size_t n, const TransformTables& tables) {
  if (n == 1) return;
  if (n == 2) return exchange(x);
  for (std::size_t quarter = 0; quarter < 4; ++quarter) transform_back(x.from(quarter * n / 4), n / 4, tables);
  backward_butterflies(x, n, tables.butterflies(n));
}

// z [M], transformed -> the spectrum of the real sequence, frequencies 0..M in order.
void disentangle(ComplexColumn z, const TransformTables& tables, ComplexColumn spectrum) {
  const TransformFloats d;
  const std::size_t M = tables.size();
  const auto half = hn::Set(d, 0.5F);
  for (std::size_t k = 0; k <= M; ++k) {
    const ComplexVector a = z[tables.place(k % M)], b = conjugate(z[tables.place((M - k) % M)]);
    const ComplexVector sum = a + b, difference = times_i(a - b) * broadcast(tables.turn(k));
    spectrum.set(k, {hn::Mul(half, hn::Sub(sum.re, difference.re)), hn::Mul(half, hn::Sub(sum.im, difference.im))});
  }
}

// The inverse of disentangle, and of the transform's factor of M.
void entangle(ComplexColumn spectrum, const TransformTables& tables, ComplexColumn z) {
  const TransformFloats d;
  const std::size_t M = tables.size();
  const auto scale = hn::Set(d, 0.5F / static_cast<float>(M));
  for (std::size_t k = 0; k < M; ++k) {
    const ComplexVector a = spectrum[k], b = conjugate(spectrum[M - k]);
    const ComplexVector sum = a + b, difference = times_i(a - b) * conjugate(broadcast(tables.turn(k)));
    z.set(tables.place(k), {hn::Mul(scale, hn::Add(sum.re, difference.re)), hn::Mul(scale, hn::Add(sum.im, difference.im))});
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
