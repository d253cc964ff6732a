// Functions of vectors that Highway does not have. Included once per SIMD target.
#if defined(MNEME_VECTOR_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNEME_VECTOR_MATH_INL_H
#undef MNEME_VECTOR_MATH_INL_H
#else
#define MNEME_VECTOR_MATH_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {

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
  const V one = hn::Set(d, 1.0F), e = hn::Exp(d, hn::Neg(hn::Abs(x)));
  const V above = hn::Div(one, hn::Add(one, e));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(e, above), above);
}

// log(1 + exp(x)) without overflow.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V softplus(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V e = hn::Exp(d, hn::Neg(hn::Abs(x)));
  return hn::Add(hn::Max(x, hn::Zero(d)), hn::Log1p(d, e));
}

// The normal distribution at x and its density, both to 2e-7.
template <class V>
struct Normal {
  V distribution, density;
};

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE Normal<V> normal(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  // Abramowitz and Stegun, 7.1.26, for |x| / sqrt(2).
  const V e = decay_exp(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5F)));
  const V t = hn::Div(hn::Set(d, 1.0F), hn::MulAdd(hn::Abs(x), hn::Set(d, 0.231641888F), hn::Set(d, 1.0F)));
  V p = hn::MulAdd(hn::Set(d, 0.5307027145F), t, hn::Set(d, -0.7265760135F));
  p = hn::MulAdd(p, t, hn::Set(d, 0.7107068705F));
  p = hn::MulAdd(p, t, hn::Set(d, -0.142248368F));
  p = hn::MulAdd(p, t, hn::Set(d, 0.1274147960F));
  const V tail = hn::Mul(hn::Mul(p, t), e);
  return {hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0F), tail)),
          hn::Mul(e, hn::Set(d, 0.398942280F))};
}

}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
