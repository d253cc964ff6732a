#include "kernels/conv/short_conv.h"

#include <algorithm>

#include "kernels/simd/aligned_floats.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/short_conv.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The taps that stay inside [0, L) for an output (or, with the filter turned round, an input) position.
struct Taps {
  std::size_t first, last;  // [first, last)
  std::size_t from;         // the position that `first` reads
};

HWY_INLINE Taps taps_at(std::size_t t, std::size_t before, std::size_t W, std::size_t L) {
  const std::size_t first = t < before ? before - t : 0;
  const std::size_t last = std::min(W, L + before - t);
  return {first, last, t + first - before};
}

// Calls visit(tag, c) for all channels.
template <class Visit>
HWY_INLINE void over_channels(std::size_t C, Visit visit) {
  const hn::ScalableTag<float> wide;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(wide), whole = C - C % lanes;
  for (std::size_t c = 0; c < whole; c += lanes) visit(wide, c);
  for (std::size_t c = whole; c < C; ++c) visit(one, c);
}

// Sequences are walked through token by token, with all channels of each: memory is then read in its order, which is
// what this kernel's time is made of.

// y[t, c] = finish(start[c] + sum_i taps[i, c] * x[t + i - before, c]) for one sequence; taps [W, C], tokens of x
// `stride` floats apart. finish(tag, value, place in y).
template <class Finish>
HWY_INLINE void filter(const ShortConvShape& s, std::size_t before, const float* taps, const float* start,
                       const float* x, std::size_t stride, float* y, const Finish& finish) {
  for (std::size_t t = 0; t < s.L; ++t) {
    const Taps range = taps_at(t, before, s.W, s.L);
    const float* in = x + range.from * stride;
    over_channels(s.C, [&](auto d, std::size_t c) {
      auto sum = start ? hn::LoadU(d, start + c) : hn::Zero(d);
      const float* token = in + c;
      for (std::size_t i = range.first; i < range.last; ++i, token += stride)
        sum = hn::MulAdd(hn::LoadU(d, taps + i * s.C + c), hn::LoadU(d, token), sum);
      hn::StoreU(finish(d, sum, t * s.C + c), d, y + t * s.C + c);
    });
  }
}

struct Plain {
  template <class D, class V>
  HWY_INLINE V operator()(D, V z, std::size_t) const {
    return z;
  }
};

struct Silu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V z, std::size_t) const {
    return hn::Mul(z, sigmoid(d, z));
  }
};

// The gradient of silu(z) -> that of z.
struct SiluBackward {
  const float* dy;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V z, std::size_t at) const {
    const V gate = sigmoid(d, z);
    return hn::Mul(hn::LoadU(d, dy + at), hn::MulAdd(hn::Mul(z, gate), hn::Sub(hn::Set(d, 1.0F), gate), gate));
  }
};

// sums[i, c] = sum_t dy[t, c] * x[t + i - before, c]; sums[W, c] = sum_t dy[t, c]. One sequence.
void correlate(const ShortConvShape& s, std::size_t before, const float* x, const float* dy, float* sums) {
  std::fill_n(sums, (s.W + 1) * s.C, 0.0F);
  for (std::size_t t = 0; t < s.L; ++t) {
    const Taps range = taps_at(t, before, s.W, s.L);
    const float* in = x + range.from * s.stride;
    over_channels(s.C, [&](auto d, std::size_t c) {
      const auto gradient = hn::LoadU(d, dy + t * s.C + c);
      const float* token = in + c;
      float* sum = sums + range.first * s.C + c;
      for (std::size_t i = range.first; i < range.last; ++i, token += s.stride, sum += s.C)
        hn::StoreU(hn::MulAdd(gradient, hn::LoadU(d, token), hn::LoadU(d, sum)), d, sum);
      float* all = sums + s.W * s.C + c;
      hn::StoreU(hn::Add(hn::LoadU(d, all), gradient), d, all);
    });
  }
}

void short_conv_simd(const ShortConvShape& s, const float* x, const float* taps, const float* bias, float* y) {
  for (std::size_t b = 0; b < s.B; ++b) {
    const float* from = x + b * s.L * s.stride;
    float* to = y + b * s.L * s.C;
    if (s.silu)
      filter(s, s.W - 1 - s.ahead, taps, bias, from, s.stride, to, Silu());
    else
      filter(s, s.W - 1 - s.ahead, taps, bias, from, s.stride, to, Plain());
  }
}

void short_conv_step_simd(const ShortConvShape& s, const float* window, const float* x, const float* taps,
                          const float* bias, float* next, float* y) {
  const std::size_t held = (s.W - 1) * s.C;
  for (std::size_t b = 0; b < s.B; ++b) {
    const float *old = window + b * held, *token = x + b * s.stride;
    float *to = next + b * held, *out = y + b * s.C;
    over_channels(s.C, [&](auto d, std::size_t c) {
      auto sum = bias ? hn::LoadU(d, bias + c) : hn::Zero(d);
      for (std::size_t i = 0; i + 1 < s.W; ++i) {
        const auto past = hn::LoadU(d, old + i * s.C + c);
        sum = hn::MulAdd(hn::LoadU(d, taps + i * s.C + c), past, sum);
        if (i > 0) hn::StoreU(past, d, to + (i - 1) * s.C + c);
      }
      const auto now = hn::LoadU(d, token + c);
      sum = hn::MulAdd(hn::LoadU(d, taps + held + c), now, sum);
      if (s.W > 1) hn::StoreU(now, d, to + (s.W - 2) * s.C + c);
      hn::StoreU(s.silu ? Silu()(d, sum, 0) : sum, d, out + c);
    });
  }
}

// `turned` holds the taps in reverse order: the gradient of the input is a convolution with them.
void short_conv_backward_simd(const ShortConvShape& s, const float* x, const float* taps, const float* turned,
                              const float* bias, const float* dy, float* dx, double* totals) {
  const AlignedFloats sums((s.W + 1) * s.C, kUnset), of_silu(s.silu ? s.L * s.C : 0, kUnset);
  for (std::size_t b = 0; b < s.B; ++b) {
    const std::size_t at = b * s.L * s.C;
    const float *from = x + b * s.L * s.stride, *dz = dy + at;
    if (s.silu) {
      filter(s, s.W - 1 - s.ahead, taps, bias, from, s.stride, of_silu, SiluBackward{dz});
      dz = of_silu;
    }
    filter(s, s.ahead, turned, nullptr, dz, s.C, dx + at, Plain());
    correlate(s, s.W - 1 - s.ahead, from, dz, sums);
    for (std::size_t i = 0; i < (s.W + 1) * s.C; ++i) totals[i] += sums[i];
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(short_conv_simd);
HWY_EXPORT(short_conv_step_simd);
HWY_EXPORT(short_conv_backward_simd);

namespace {

// [W, C]: channels innermost, as everywhere else.
AlignedFloats taps_of(const ShortConvShape& s, const float* weight, bool turned) {
  AlignedFloats taps(s.W * s.C, kUnset);
  for (std::size_t c = 0; c < s.C; ++c)
    for (std::size_t i = 0; i < s.W; ++i) taps[(turned ? s.W - 1 - i : i) * s.C + c] = weight[c * s.W + i];
  return taps;
}

}  // namespace

void short_conv(const ShortConvShape& shape, const float* x, const float* weight, const float* bias, float* out) {
  if (use_reference()) return short_conv_reference(shape, x, weight, bias, out);
  HWY_DYNAMIC_DISPATCH(short_conv_simd)(shape, x, taps_of(shape, weight, false), bias, out);
}

void short_conv_step(const ShortConvShape& shape, const float* window, const float* x, const float* weight,
                     const float* bias, float* next, float* out) {
  if (use_reference()) return short_conv_step_reference(shape, window, x, weight, bias, next, out);
  HWY_DYNAMIC_DISPATCH(short_conv_step_simd)(shape, window, x, taps_of(shape, weight, false), bias, next, out);
}

void short_conv_backward(const ShortConvShape& shape, const float* x, const float* weight, const float* bias,
                         const float* dout, const ShortConvGradients& gradients) {
  if (use_reference()) return short_conv_backward_reference(shape, x, weight, bias, dout, gradients);
  const std::size_t W = shape.W, C = shape.C;
  const AlignedDoubles totals((W + 1) * C);
  HWY_DYNAMIC_DISPATCH(short_conv_backward_simd)
  (shape, x, taps_of(shape, weight, false), taps_of(shape, weight, true), bias, dout, gradients.dx, totals);
  for (std::size_t c = 0; c < C; ++c) {
    for (std::size_t i = 0; i < W; ++i) gradients.dweight[c * W + i] = static_cast<float>(totals[i * C + c]);
    if (gradients.dbias) gradients.dbias[c] = static_cast<float>(totals[W * C + c]);
  }
}

}  // namespace mneme::kernels
#endif
