// Fourier transforms of complex sequences, one per lane: every vector holds one step of as many channels.
//
// In place, radix 4, recursing depth first so that parts of a long transform stay in the cache. The spectrum stays in
// the order in which the butterflies leave it: products of spectra need no other, and transform_back takes it.
#if defined(MNEME_KERNELS_COMPLEX_TRANSFORM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MNEME_KERNELS_COMPLEX_TRANSFORM_INL
#undef MNEME_KERNELS_COMPLEX_TRANSFORM_INL
#else
#define MNEME_KERNELS_COMPLEX_TRANSFORM_INL
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "kernels/conv/transform_tables.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using TransformFloats = hn::ScalableTag<float>;
using TransformVector = hn::Vec<TransformFloats>;

struct ComplexVector {
  TransformVector re, im;
};

HWY_INLINE ComplexVector operator+(ComplexVector a, ComplexVector b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
HWY_INLINE ComplexVector operator-(ComplexVector a, ComplexVector b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
HWY_INLINE ComplexVector operator*(ComplexVector a, ComplexVector b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)), hn::MulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}
HWY_INLINE ComplexVector times_conjugate(ComplexVector a, ComplexVector b) {
  return {hn::MulAdd(a.im, b.im, hn::Mul(a.re, b.re)), hn::NegMulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}
HWY_INLINE ComplexVector times_i(ComplexVector a) { return {hn::Neg(a.im), a.re}; }

// Complex vectors, real and imaginary parts next to each other so that one step is one place in memory.
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
  HWY_INLINE ComplexColumn from(std::size_t i) const { return {data + 2 * i * lanes, lanes}; }
};

HWY_INLINE ComplexVector broadcast(Twiddle w) {
  const TransformFloats d;
  return {hn::Set(d, w.re), hn::Set(d, w.im)};
}

struct Quarters {
  ComplexVector a0, a1, a2, a3;
};

HWY_INLINE Quarters forward_four(Quarters x) {
  const ComplexVector even = x.a0 + x.a2, odd = x.a1 + x.a3, across = x.a0 - x.a2, turned = times_i(x.a3 - x.a1);
  return {even + odd, across + turned, even - odd, across - turned};
}
// Undoes forward_four but for a factor of 4.
HWY_INLINE Quarters backward_four(Quarters x) {
  const ComplexVector even = x.a0 + x.a2, odd = x.a1 + x.a3, across = x.a0 - x.a2, turned = times_i(x.a1 - x.a3);
  return {even + odd, across + turned, even - odd, across - turned};
}

HWY_INLINE Quarters load_four(ComplexColumn x, std::size_t j, std::size_t q) {
  return {x[j], x[j + q], x[j + 2 * q], x[j + 3 * q]};
}

HWY_INLINE void store_four(ComplexColumn x, std::size_t j, std::size_t q, Quarters y) {
  x.set(j, y.a0);
  x.set(j + q, y.a1);
  x.set(j + 2 * q, y.a2);
  x.set(j + 3 * q, y.a3);
}

HWY_INLINE Quarters turn(Quarters y, const Twiddle* w) {
  return {y.a0, y.a1 * broadcast(w[0]), y.a2 * broadcast(w[1]), y.a3 * broadcast(w[2])};
}
HWY_INLINE Quarters turn_back(Quarters y, const Twiddle* w) {
  return {y.a0, times_conjugate(y.a1, broadcast(w[0])), times_conjugate(y.a2, broadcast(w[1])),
          times_conjugate(y.a3, broadcast(w[2]))};
}

// n <= 4: no turns.
HWY_INLINE void transform_few(ComplexColumn x, std::size_t n, bool back) {
  if (n == 4) return store_four(x, 0, 1, back ? backward_four(load_four(x, 0, 1)) : forward_four(load_four(x, 0, 1)));
  if (n == 1) return;
  const ComplexVector a = x[0], b = x[1];
  x.set(0, a + b);
  x.set(1, a - b);
}

// x <- its transform of n steps; frequency 4 k + r goes to quarter r.
void transform(ComplexColumn x, std::size_t n, const TransformTables& tables) {
  if (n <= 4) return transform_few(x, n, false);
  const std::size_t q = n / 4;
  const Twiddle* w = tables.butterflies(n);
  for (std::size_t j = 0; j < q; ++j, w += 3) store_four(x, j, q, turn(forward_four(load_four(x, j, q)), w));
  for (std::size_t part = 0; part < 4; ++part) transform(x.from(part * q), q, tables);
}

// x <- n times the steps whose transform it was.
void transform_back(ComplexColumn x, std::size_t n, const TransformTables& tables) {
  if (n <= 4) return transform_few(x, n, true);
  const std::size_t q = n / 4;
  const Twiddle* w = tables.butterflies(n);
  for (std::size_t part = 0; part < 4; ++part) transform_back(x.from(part * q), q, tables);
  for (std::size_t j = 0; j < q; ++j, w += 3) store_four(x, j, q, backward_four(turn_back(load_four(x, j, q), w)));
}

// As transform, of a sequence whose second half is zero whatever the memory holds there. n >= 4.
void transform_padded(ComplexColumn x, std::size_t n, const TransformTables& tables) {
  const std::size_t q = n / 4;
  const Twiddle* w = tables.butterflies(n);
  for (std::size_t j = 0; j < q; ++j, w += 3) {
    const ComplexVector a0 = x[j], a1 = x[j + q], turned = times_i(a1);
    store_four(x, j, q, turn({a0 + a1, a0 - turned, a0 - a1, a0 + turned}, w));
  }
  for (std::size_t part = 0; part < 4; ++part) transform(x.from(part * q), q, tables);
}

// transform_back when only the first half is wanted; the second is left undefined. n >= 4.
void transform_back_padded(ComplexColumn x, std::size_t n, const TransformTables& tables) {
  const std::size_t q = n / 4;
  const Twiddle* w = tables.butterflies(n);
  for (std::size_t part = 0; part < 4; ++part) transform_back(x.from(part * q), q, tables);
  for (std::size_t j = 0; j < q; ++j, w += 3) {
    const Quarters b = turn_back(load_four(x, j, q), w);
    x.set(j, b.a0 + b.a2 + (b.a1 + b.a3));
    x.set(j + q, b.a0 - b.a2 + times_i(b.a1 - b.a3));
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
