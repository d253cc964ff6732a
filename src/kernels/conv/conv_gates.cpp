#include "kernels/conv/conv_gates.h"

#include <algorithm>

#include "kernels/simd/aligned_floats.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/conv_gates.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Calls visit(tag, at, wide, c) for all channels of the tokens [first, last): `at` is where they stand in [B, L, C],
// `wide` in [B, L, 3C].
template <class Visit>
HWY_INLINE void over_tokens(std::size_t C, std::size_t first, std::size_t last, Visit visit) {
  const hn::ScalableTag<float> wide;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(wide), whole = C - C % lanes;
  for (std::size_t t = first; t < last; ++t) {
    for (std::size_t c = 0; c < whole; c += lanes) visit(wide, t * C + c, 3 * t * C + c, c);
    for (std::size_t c = whole; c < C; ++c) visit(one, t * C + c, 3 * t * C + c, c);
  }
}

void open_gate_simd(const ConvGatesInput& s, float* v) {
  over_tokens(s.C, 0, s.B * s.L, [&](auto d, std::size_t at, std::size_t in, std::size_t) {
    hn::StoreU(hn::Mul(hn::LoadU(d, s.u + in), hn::LoadU(d, s.u + in + 2 * s.C)), d, v + at);
  });
}

void close_gate_simd(const ConvGatesInput& s, float* z, const CloseGateSaved& saved) {
  over_tokens(s.C, 0, s.B * s.L, [&](auto d, std::size_t at, std::size_t in, std::size_t c) {
    const auto sum = hn::MulAdd(hn::LoadU(d, s.skip + c), hn::LoadU(d, saved.v + at), hn::LoadU(d, saved.g + at));
    hn::StoreU(sum, d, saved.g + at);
    hn::StoreU(hn::Mul(sum, hn::LoadU(d, s.u + in + s.C)), d, z + at);
  });
}

// `sums` [C] is for one sequence, `totals` [C] for all.
void close_gate_backward_simd(const ConvGatesInput& s, const CloseGateSaved& saved, const float* dout,
                              const CloseGateGradients& to, float* sums, double* totals) {
  for (std::size_t b = 0; b < s.B; ++b) {
    std::fill_n(sums, s.C, 0.0F);
    over_tokens(s.C, b * s.L, (b + 1) * s.L, [&](auto d, std::size_t at, std::size_t in, std::size_t c) {
      const auto dz = hn::LoadU(d, dout + at), dy = hn::Mul(dz, hn::LoadU(d, s.u + in + s.C));
      hn::StoreU(dy, d, to.dy + at);
      hn::StoreU(hn::Mul(dz, hn::LoadU(d, saved.g + at)), d, to.du + in + s.C);
      hn::StoreU(hn::MulAdd(dy, hn::LoadU(d, saved.v + at), hn::LoadU(d, sums + c)), d, sums + c);
    });
    for (std::size_t c = 0; c < s.C; ++c) totals[c] += sums[c];
  }
}

void open_gate_backward_simd(const ConvGatesInput& s, const float* dy, const float* dv, float* du) {
  over_tokens(s.C, 0, s.B * s.L, [&](auto d, std::size_t at, std::size_t in, std::size_t c) {
    const auto w = hn::MulAdd(hn::LoadU(d, s.skip + c), hn::LoadU(d, dy + at), hn::LoadU(d, dv + at));
    hn::StoreU(hn::Mul(w, hn::LoadU(d, s.u + in + 2 * s.C)), d, du + in);
    hn::StoreU(hn::Mul(w, hn::LoadU(d, s.u + in)), d, du + in + 2 * s.C);
  });
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(open_gate_simd);
HWY_EXPORT(close_gate_simd);
HWY_EXPORT(close_gate_backward_simd);
HWY_EXPORT(open_gate_backward_simd);

void open_gate(const ConvGatesInput& in, float* out) {
  if (use_reference()) return open_gate_reference(in, out);
  HWY_DYNAMIC_DISPATCH(open_gate_simd)(in, out);
}

void close_gate(const ConvGatesInput& in, float* out, const CloseGateSaved& saved) {
  if (use_reference()) return close_gate_reference(in, out, saved);
  HWY_DYNAMIC_DISPATCH(close_gate_simd)(in, out, saved);
}

void close_gate_backward(const ConvGatesInput& in, const CloseGateSaved& saved, const float* dout,
                         const CloseGateGradients& gradients) {
  if (use_reference()) return close_gate_backward_reference(in, saved, dout, gradients);
  const AlignedFloats sums(in.C);
  const AlignedDoubles totals(in.C);
  HWY_DYNAMIC_DISPATCH(close_gate_backward_simd)(in, saved, dout, gradients, sums, totals);
  for (std::size_t c = 0; c < in.C; ++c) gradients.dskip[c] = static_cast<float>(totals[c]);
}

void open_gate_backward(const ConvGatesInput& in, const float* dy, const float* dv, float* du) {
  if (use_reference()) return open_gate_backward_reference(in, dy, dv, du);
  HWY_DYNAMIC_DISPATCH(open_gate_backward_simd)(in, dy, dv, du);
}

}  // namespace mneme::kernels
#endif
