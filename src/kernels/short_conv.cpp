#include "kernels/short_conv.h"

#include <algorithm>
#include <vector>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/short_conv.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

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

// y[t, c] = start[c] + sum_i taps[i, c] * x[t + i - before, c] for one sequence; taps [W, C].
void filter(const ShortConvShape& s, std::size_t before, const float* taps, const float* start, const float* x,
            float* y) {
  for (std::size_t t = 0; t < s.L; ++t) {
    const Taps range = taps_at(t, before, s.W, s.L);
    const float* in = x + range.from * s.C;
    over_channels(s.C, [&](auto d, std::size_t c) {
      auto sum = start ? hn::LoadU(d, start + c) : hn::Zero(d);
      const float* token = in + c;
      for (std::size_t i = range.first; i < range.last; ++i, token += s.C)
        sum = hn::MulAdd(hn::LoadU(d, taps + i * s.C + c), hn::LoadU(d, token), sum);
      hn::StoreU(sum, d, y + t * s.C + c);
    });
  }
}

// sums[i, c] = sum_t dy[t, c] * x[t + i - before, c]; sums[W, c] = sum_t dy[t, c]. One sequence.
void correlate(const ShortConvShape& s, std::size_t before, const float* x, const float* dy, float* sums) {
  std::fill_n(sums, (s.W + 1) * s.C, 0.0F);
  for (std::size_t t = 0; t < s.L; ++t) {
    const Taps range = taps_at(t, before, s.W, s.L);
    const float* in = x + range.from * s.C;
    over_channels(s.C, [&](auto d, std::size_t c) {
      const auto gradient = hn::LoadU(d, dy + t * s.C + c);
      const float* token = in + c;
      float* sum = sums + range.first * s.C + c;
      for (std::size_t i = range.first; i < range.last; ++i, token += s.C, sum += s.C)
        hn::StoreU(hn::MulAdd(gradient, hn::LoadU(d, token), hn::LoadU(d, sum)), d, sum);
      float* all = sums + s.W * s.C + c;
      hn::StoreU(hn::Add(hn::LoadU(d, all), gradient), d, all);
    });
  }
}

}  // namespace

void short_conv_simd(const ShortConvShape& s, const float* x, const float* taps, const float* bias, float* y) {
  for (std::size_t b = 0; b < s.B; ++b) {
    const std::size_t at = b * s.L * s.C;
    filter(s, s.W - 1 - s.ahead, taps, bias, x + at, y + at);
  }
}

// `turned` holds the taps in reverse order: the gradient of the input is a convolution with them.
void short_conv_backward_simd(const ShortConvShape& s, const float* x, const float* turned, const float* dy, float* dx,
                              float* sums, double* totals) {
  for (std::size_t b = 0; b < s.B; ++b) {
    const std::size_t at = b * s.L * s.C;
    filter(s, s.ahead, turned, nullptr, dy + at, dx + at);
    correlate(s, s.W - 1 - s.ahead, x + at, dy + at, sums);
    for (std::size_t i = 0; i < (s.W + 1) * s.C; ++i) totals[i] += sums[i];
  }
}

}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(short_conv_simd);
HWY_EXPORT(short_conv_backward_simd);

void short_conv(const ShortConvShape& shape, const float* x, const float* weight, const float* bias, float* y) {
  if (use_reference()) return short_conv_reference(shape, x, weight, bias, y);
  std::vector<float> taps(shape.W * shape.C);  // [W, C]: channels innermost, as everywhere else
  for (std::size_t c = 0; c < shape.C; ++c)
    for (std::size_t i = 0; i < shape.W; ++i) taps[i * shape.C + c] = weight[c * shape.W + i];
  HWY_DYNAMIC_DISPATCH(short_conv_simd)(shape, x, taps.data(), bias, y);
}

void short_conv_backward(const ShortConvShape& shape, const float* x, const float* weight, const float* dy, float* dx,
                         float* dweight, float* dbias) {
  if (use_reference()) return short_conv_backward_reference(shape, x, weight, dy, dx, dweight, dbias);
  const std::size_t W = shape.W, C = shape.C;
  std::vector<float> turned(W * C), sums((W + 1) * C);
  std::vector<double> totals((W + 1) * C, 0.0);
  for (std::size_t c = 0; c < C; ++c)
    for (std::size_t i = 0; i < W; ++i) turned[(W - 1 - i) * C + c] = weight[c * W + i];
  HWY_DYNAMIC_DISPATCH(short_conv_backward_simd)(shape, x, turned.data(), dy, dx, sums.data(), totals.data());
  for (std::size_t c = 0; c < C; ++c) {
    for (std::size_t i = 0; i < W; ++i) dweight[c * W + i] = static_cast<float>(totals[i * C + c]);
    if (dbias) dbias[c] = static_cast<float>(totals[W * C + c]);
  }
}

}  // namespace mneme::kernels
#endif
