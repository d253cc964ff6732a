// Functions of vectors that Highway does not have. Included once per SIMD target.
#if defined(MNEME_VECTOR_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNEME_VECTOR_MATH_INL_H
#undef MNEME_VECTOR_MATH_INL_H
#else
#define MNEME_VECTOR_MATH_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cstddef>
#include <iterator>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

// exp(x) for x <= 0, to 2e-7; 0 for x < -87; NaN stays NaN. Positive x are not for it.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V decay_exp(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<D> integers;
  // Adding 1.5 * 2^23 rounds to a whole number n and leaves it in the low bits.
  const V magic = hn::Set(d, 12582912.0F);
  const V rounded = hn::MulAdd(x, hn::Set(d, 1.44269504F), magic), n = hn::Sub(rounded, magic);
  // ln 2 in two parts, so that the remainder keeps its digits.
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), r);
  V p = hn::MulAdd(hn::Set(d, 1.9875691500e-4F), r, hn::Set(d, 1.3981999507e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1F));
  p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1F));
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0F));
  const V scaled = hn::BitCast(d, hn::Add(hn::BitCast(integers, p), hn::ShiftLeft<23>(hn::BitCast(integers, rounded))));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.0F)), scaled);
}

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V one = hn::Set(d, 1.0F), e = decay_exp(d, hn::Neg(hn::Abs(x)));
  const V above = hn::Div(one, hn::Add(one, e));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(e, above), above);
}

// log(1 + exp(x)) without overflow and its derivative, both to 4e-7 of their value.
template <class V>
struct Softplus {
  V value, slope;
};

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE Softplus<V> softplus(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V one = hn::Set(d, 1.0F), e = decay_exp(d, hn::Neg(hn::Abs(x)));
  // log(1 + e) = 2 artanh(r) with r = e / (2 + e) <= 1/3, and artanh(r) / r a polynomial in r^2.
  const V r = hn::Div(e, hn::Add(hn::Set(d, 2.0F), e)), square = hn::Mul(r, r);
  V p = hn::MulAdd(hn::Set(d, 0.140891671F), square, hn::Set(d, 0.139803007F));
  p = hn::MulAdd(p, square, hn::Set(d, 0.200124547F));
  p = hn::MulAdd(p, square, hn::Set(d, 0.333331585F));
  p = hn::MulAdd(p, square, one);
  const V above = hn::Div(one, hn::Add(one, e));
  return {hn::MulAdd(hn::Add(r, r), p, hn::Max(x, hn::Zero(d))),
          hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(e, above), above)};
}

// The polynomial in x with these coefficients, the constant first.
template <class D, class V, std::size_t N, std::size_t... I>
HWY_INLINE V polynomial(D d, V x, const float (&coefficients)[N], std::index_sequence<I...>) {
  namespace hn = hwy::HWY_NAMESPACE;
  V sum = hn::Set(d, coefficients[N - 1]);
  ((sum = hn::MulAdd(sum, x, hn::Set(d, coefficients[N - 2 - I]))), ...);
  return sum;
}

// The normal distribution at x and its density, both to 2e-7.
template <class V>
struct Normal {
  V distribution, density;
};

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE Normal<V> normal(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  // Phi(x) = 1/2 + x q(x^2) for |x| < 5.2, else 0 or 1 to 1e-7. q is its Chebyshev series of degree 14 in x^2, written
  // as a polynomial in w, which runs from -1 to 1 there: its coefficients are small and alternate, so nothing is lost.
  constexpr float kEnd = 27.04F;
  constexpr float kSeries[] = {0.135949969F,   -0.0677438378F,   0.0500263833F,   -0.0399242975F,  0.0319573805F,
                               -0.024773363F,  0.0181668829F,    -0.0123155946F,  0.00790647417F,  -0.00513660721F,
                               0.00282826414F, -0.000918086967F, 0.000470087718F, -0.00058243383F, 0.000242603128F};
  const V square = hn::Mul(x, x), end = hn::Set(d, kEnd), half = hn::Set(d, 0.5F);
  const V w = hn::MulSub(hn::Min(square, end), hn::Set(d, 2 / kEnd), hn::Set(d, 1.0F));
  const V q = polynomial(d, w, kSeries, std::make_index_sequence<std::size(kSeries) - 1>());
  const V beyond = hn::IfThenElse(hn::Lt(square, end), hn::Mul(x, q), hn::CopySign(half, x));
  return {hn::Add(half, beyond), hn::Mul(decay_exp(d, hn::Mul(square, hn::Set(d, -0.5F))), hn::Set(d, 0.398942280F))};
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
