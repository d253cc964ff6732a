#include "kernels/conv/token_blend.h"

#include <algorithm>

#include "core/error.h"
#include "kernels/simd/aligned_floats.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/token_blend.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void token_blend_simd(const TokenBlendInput& in, const PerBlend<float*>& out) {
  const AlignedFloats zeros(in.C);
  for (std::size_t row = 0; row < in.B * in.L; ++row) {
    const float* x = in.x + row * in.C;
    const float* previous = row % in.L > 0 ? x - in.C : zeros.data();
    for_row(in.C, [&](auto d, std::size_t c) {
      const auto now = hn::LoadU(d, x + c), back = hn::Sub(hn::LoadU(d, previous + c), now);
      for (std::size_t m = 0; m < in.M; ++m)
        hn::StoreU(hn::MulAdd(hn::LoadU(d, in.share[m] + c), back, now), d, out[m] + row * in.C + c);
    });
  }
}

// One token: its own share of the gradients, and what its successor hands back to it.
HWY_INLINE void retreat(const TokenBlendInput& in, const PerBlend<const float*>& dout, float* all_dx, std::size_t row,
                        const float* zeros, float* sums) {
  const std::size_t at = row * in.C;
  const bool last = row % in.L + 1 == in.L;
  const float* previous = row % in.L > 0 ? in.x + at - in.C : zeros;
  for_row(in.C, [&](auto d, std::size_t c) {
    const auto back = hn::Sub(hn::LoadU(d, previous + c), hn::LoadU(d, in.x + at + c));
    auto dx = hn::Zero(d);
    for (std::size_t m = 0; m < in.M; ++m) {
      const auto share = hn::LoadU(d, in.share[m] + c), dy = hn::LoadU(d, dout[m] + at + c);
      auto through = hn::NegMulAdd(share, dy, dy);
      if (!last) through = hn::MulAdd(share, hn::LoadU(d, dout[m] + at + in.C + c), through);
      dx = hn::Add(dx, through);
      hn::StoreU(hn::MulAdd(dy, back, hn::LoadU(d, sums + m * in.C + c)), d, sums + m * in.C + c);
    }
    hn::StoreU(dx, d, all_dx + at + c);
  });
}

void token_blend_backward_simd(const TokenBlendInput& in, const PerBlend<const float*>& dout, float* dx,
                               double* totals) {
  const AlignedFloats zeros(in.C);
  AlignedFloats sums(in.M * in.C);
  for (std::size_t b = 0; b < in.B; ++b) {
    std::fill_n(sums.data(), in.M * in.C, 0.0F);
    for (std::size_t t = 0; t < in.L; ++t) retreat(in, dout, dx, b * in.L + t, zeros.data(), sums.data());
    for (std::size_t i = 0; i < in.M * in.C; ++i) totals[i] += sums.data()[i];
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(token_blend_simd);
HWY_EXPORT(token_blend_backward_simd);

void token_blend(const TokenBlendInput& in, const PerBlend<float*>& out) {
  require(in.M <= kMostBlends, "at most eight blends");
  if (use_reference()) return token_blend_reference(in, out);
  HWY_DYNAMIC_DISPATCH(token_blend_simd)(in, out);
}

void token_blend_backward(const TokenBlendInput& in, const PerBlend<const float*>& dout,
                          const TokenBlendGradients& gradients) {
  if (use_reference()) return token_blend_backward_reference(in, dout, gradients);
  const AlignedDoubles totals(in.M * in.C);
  HWY_DYNAMIC_DISPATCH(token_blend_backward_simd)(in, dout, gradients.dx, totals);
  for (std::size_t m = 0; m < in.M; ++m)
    for (std::size_t c = 0; c < in.C; ++c) gradients.dshare[m][c] = static_cast<float>(totals[m * in.C + c]);
}

}  // namespace mneme::kernels
#endif
