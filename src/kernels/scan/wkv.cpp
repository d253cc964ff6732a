#include "kernels/scan/wkv.h"

#include "kernels/simd/aligned_floats.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan/wkv.cpp"
#include <hwy/foreach_target.h>  // before all others of the library

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// An exponent below every real one, with room to add decays.
constexpr float kWkvNothing = -1e38F;

// a e^x + b e^y is kept as (a * past + b * now) e^max(x, y). The larger of the two factors is 1: one exponential.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void wkv_relative(D d, V x, V y, V& past, V& now) {
  const V difference = hn::Sub(x, y), one = hn::Set(d, 1.0F);
  const V smaller = hn::Exp(d, hn::Neg(hn::Abs(difference)));
  const auto past_is_larger = hn::Ge(difference, hn::Zero(d));
  past = hn::IfThenElse(past_is_larger, one, smaller);
  now = hn::IfThenElse(past_is_larger, smaller, one);
}

// Numerator p e^o and denominator q e^o of the past.
template <class D>
struct WkvPast {
  hn::Vec<D> p, q, o;

  explicit WkvPast(D d) : p(hn::Zero(d)), q(hn::Zero(d)), o(hn::Set(d, kWkvNothing)) {}

  HWY_INLINE void advance(D d, hn::Vec<D> k, hn::Vec<D> v, hn::Vec<D> w) {
    hn::Vec<D> past, now;
    const auto decayed = hn::Add(o, w);
    wkv_relative(d, decayed, k, past, now);
    p = hn::MulAdd(past, p, hn::Mul(now, v));
    q = hn::MulAdd(past, q, now);
    o = hn::Max(decayed, k);
  }
  HWY_INLINE void store(D d, float* to, std::size_t stride) const {
    hn::StoreU(p, d, to);
    hn::StoreU(q, d, to + stride);
    hn::StoreU(o, d, to + 2 * stride);
  }
  HWY_INLINE void load(D d, const float* from, std::size_t stride) {
    p = hn::LoadU(d, from);
    q = hn::LoadU(d, from + stride);
    o = hn::LoadU(d, from + 2 * stride);
  }
};

// Lanes(d) channels from c on; one lane wide for the last few.
template <class D>
void wkv_channels(D d, const WkvInput& a, float* out, float* states, std::size_t c) {
  const auto w = hn::LoadU(d, a.w + c), u = hn::LoadU(d, a.u + c);
  for (std::size_t b = 0; b < a.B; ++b) {
    WkvPast<D> state(d);
    for (std::size_t t = 0; t < a.L; ++t) {
      const std::size_t at = (b * a.L + t) * a.C + c;
      if (states != nullptr && t % kWkvChunk == 0)
        state.store(d, states + (b * a.chunks() + t / kWkvChunk) * 3 * a.C + c, a.C);
      const auto k = hn::LoadU(d, a.k + at), v = hn::LoadU(d, a.v + at);
      hn::Vec<D> past, now;
      wkv_relative(d, state.o, hn::Add(u, k), past, now);
      hn::StoreU(hn::Div(hn::MulAdd(past, state.p, hn::Mul(now, v)), hn::MulAdd(past, state.q, now)), d, out + at);
      state.advance(d, k, v, w);
    }
  }
}

// The gradients of numerator and denominator are carried back as P e^O and Q e^O. Every exponent that is
// formed with them is at most 0, because O <= -(the exponent of any later denominator).
template <class D>
void wkv_backward_channels(D d, const WkvInput& a, const float* states, const float* dout, const WkvGradients& to,
                           std::size_t c, float* scratch) {
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d), chunks = a.chunks();
  const V w = hn::LoadU(d, a.w + c), u = hn::LoadU(d, a.u + c);
  V dw = hn::Zero(d), du = hn::Zero(d);
  for (std::size_t b = 0; b < a.B; ++b) {
    V P = hn::Zero(d), Q = hn::Zero(d), O = hn::Set(d, kWkvNothing);
    for (std::size_t chunk = chunks; chunk-- > 0;) {
      const std::size_t start = chunk * kWkvChunk, stop = start + kWkvChunk < a.L ? start + kWkvChunk : a.L;
      WkvPast<D> state(d);
      state.load(d, states + (b * chunks + chunk) * 3 * a.C + c, a.C);
      for (std::size_t t = start; t < stop; ++t) {
        const std::size_t at = (b * a.L + t) * a.C + c;
        state.store(d, scratch + (t - start) * 3 * lanes, lanes);
        state.advance(d, hn::LoadU(d, a.k + at), hn::LoadU(d, a.v + at), w);
      }
      for (std::size_t t = stop; t-- > start;) {
        const std::size_t at = (b * a.L + t) * a.C + c;
        state.load(d, scratch + (t - start) * 3 * lanes, lanes);
        const V k = hn::LoadU(d, a.k + at), v = hn::LoadU(d, a.v + at), newest = hn::Add(u, k);
        V past, now;
        wkv_relative(d, state.o, newest, past, now);
        const V inverse = hn::Div(hn::Set(d, 1.0F), hn::MulAdd(past, state.q, now));
        const V y = hn::Mul(hn::MulAdd(past, state.p, hn::Mul(now, v)), inverse);
        const V dnumerator = hn::Mul(hn::LoadU(d, dout + at), inverse);  // times e^-max(o, u + k)

        const V from_output = hn::Mul(now, dnumerator), through_k = hn::Exp(d, hn::Add(k, O));
        const V dnewest = hn::Mul(from_output, hn::Sub(v, y));
        du = hn::Add(du, dnewest);
        hn::StoreU(hn::MulAdd(through_k, hn::MulAdd(v, P, Q), dnewest), d, to.dk + at);
        hn::StoreU(hn::MulAdd(through_k, P, from_output), d, to.dv + at);
        const V decayed = hn::Add(O, w);
        const V through_decay = hn::Exp(d, hn::Add(state.o, decayed));
        dw = hn::MulAdd(through_decay, hn::MulAdd(state.p, P, hn::Mul(state.q, Q)), dw);

        const V output = hn::Neg(hn::Max(state.o, newest));
        wkv_relative(d, decayed, output, past, now);
        P = hn::MulAdd(past, P, hn::Mul(now, dnumerator));
        Q = hn::NegMulAdd(hn::Mul(now, dnumerator), y, hn::Mul(past, Q));
        O = hn::Max(decayed, output);
      }
    }
  }
  hn::StoreU(dw, d, to.dw + c);
  hn::StoreU(du, d, to.du + c);
}

void wkv_simd(const WkvInput& in, float* out, const WkvSaved& saved) {
  const hn::ScalableTag<float> wide;
  const hn::CappedTag<float, 1> one;
  std::size_t c = 0;
  for (; c + hn::Lanes(wide) <= in.C; c += hn::Lanes(wide)) wkv_channels(wide, in, out, saved.states, c);
  for (; c < in.C; ++c) wkv_channels(one, in, out, saved.states, c);
}

void wkv_backward_simd(const WkvInput& in, const WkvSaved& saved, const float* dout, const WkvGradients& gradients) {
  const hn::ScalableTag<float> wide;
  const hn::CappedTag<float, 1> one;
  const AlignedFloats scratch(kWkvChunk * 3 * hn::Lanes(wide), kUnset);
  std::size_t c = 0;
  for (; c + hn::Lanes(wide) <= in.C; c += hn::Lanes(wide))
    wkv_backward_channels(wide, in, saved.states, dout, gradients, c, scratch);
  for (; c < in.C; ++c) wkv_backward_channels(one, in, saved.states, dout, gradients, c, scratch);
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(wkv_simd);
HWY_EXPORT(wkv_backward_simd);

void wkv(const WkvInput& in, float* out, const WkvSaved& saved) {
  if (use_reference()) return wkv_reference(in, out, saved);
  HWY_DYNAMIC_DISPATCH(wkv_simd)(in, out, saved);
}

void wkv_backward(const WkvInput& in, const WkvSaved& saved, const float* dout, const WkvGradients& gradients) {
  if (use_reference()) return wkv_backward_reference(in, saved, dout, gradients);
  HWY_DYNAMIC_DISPATCH(wkv_backward_simd)(in, saved, dout, gradients);
}

}  // namespace mneme::kernels
#endif
