#include "kernels/dense/gated_norm.h"

#include <algorithm>
#include <cmath>

#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dense/gated_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/row_sums-inl.h"
#include "kernels/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A part of a token on its way: u = x * silu(g) or x, silu(g) and its slope, all [C].
struct PartRows {
  explicit PartRows(std::size_t C) : u(C), silu(C), slope(C) {}
  AlignedFloats u, silu, slope;
};

// The sigmoid without a division for each sign: |g| keeps the exponential small.
template <class D>
HWY_INLINE void silu_and_slope(D d, const float* gate, float* silu, float* slope) {
  const auto g = hn::LoadU(d, gate), s = sigmoid(d, g), one = hn::Set(d, 1.0F);
  hn::StoreU(hn::Mul(g, s), d, silu);
  hn::StoreU(hn::Mul(s, hn::MulAdd(g, hn::Sub(one, s), one)), d, slope);
}

HWY_INLINE float norm_scale(const float* u, std::size_t C, float eps) {
  const float squares = row_dot(hn::ScalableTag<float>(), u, u, C);
  return 1.0F / std::sqrt(squares / static_cast<float>(C) + eps);
}

void gated_norm_simd(const GatedNormInput& in, float* out) {
  const std::size_t C = in.C;
  PartRows rows(C);
  for (std::size_t t = 0; t < in.T; ++t)
    for (std::size_t p = 0; p < in.P; ++p) {
      const float* x = in.x + (t * in.P + p) * C;
      const float* gate = in.gate.data ? in.gate[t] + p * C : nullptr;
      const float* weight = in.weight && !in.shared_weight ? in.weight + p * C : in.weight;
      const float* u = x;
      if (gate)
        for_row(C, [&](auto d, std::size_t c) {
          const auto g = hn::LoadU(d, gate + c);
          auto silu = hn::Mul(g, sigmoid(d, g));
          if (in.gate_before) silu = hn::Mul(silu, hn::LoadU(d, x + c));
          hn::StoreU(silu, d, rows.u + c);
        });
      if (gate && in.gate_before) u = rows.u.data();
      const float scale = norm_scale(u, C, in.eps);
      float* to = out + (t * in.P + p) * C;
      for_row(C, [&](auto d, std::size_t c) {
        auto value = hn::Mul(hn::LoadU(d, u + c), hn::Set(d, scale));
        if (weight) value = hn::Mul(value, hn::LoadU(d, weight + c));
        if (gate && !in.gate_before) value = hn::Mul(value, hn::LoadU(d, rows.u + c));
        hn::StoreU(value, d, to + c);
      });
    }
}

// One part: dx, dgate, and its share added to dweight. `dn` is working memory [C].
HWY_INLINE void retreat(const GatedNormInput& in, const float* all_dout, const GatedNormGradients& to, std::size_t t,
                        std::size_t p, PartRows& rows, float* dn, float* dweight) {
  const std::size_t C = in.C, at = (t * in.P + p) * C;
  const float* x = in.x + at;
  const float* dout = all_dout + at;
  const bool gated = in.gate.data != nullptr, before = gated && in.gate_before, after = gated && !in.gate_before;
  const float* weight = in.weight && !in.shared_weight ? in.weight + p * C : in.weight;
  if (!in.shared_weight) dweight += p * C;
  if (gated)
    for_row(C,
            [&](auto d, std::size_t c) { silu_and_slope(d, in.gate[t] + p * C + c, rows.silu + c, rows.slope + c); });
  const float* u = x;
  if (before) {
    for_row(C, [&](auto d, std::size_t c) {
      hn::StoreU(hn::Mul(hn::LoadU(d, x + c), hn::LoadU(d, rows.silu + c)), d, rows.u + c);
    });
    u = rows.u.data();
  }
  const float scale = norm_scale(u, C, in.eps);
  for_row(C, [&](auto d, std::size_t c) {
    auto through = hn::LoadU(d, dout + c);
    const auto normal = hn::Mul(hn::LoadU(d, u + c), hn::Set(d, scale));
    if (after) {
      auto dsilu = hn::Mul(through, normal);
      if (weight) dsilu = hn::Mul(dsilu, hn::LoadU(d, weight + c));
      hn::StoreU(hn::Mul(dsilu, hn::LoadU(d, rows.slope + c)), d, to.dgate + at + c);
      through = hn::Mul(through, hn::LoadU(d, rows.silu + c));
    }
    if (weight) {
      hn::StoreU(hn::MulAdd(through, normal, hn::LoadU(d, dweight + c)), d, dweight + c);
      through = hn::Mul(through, hn::LoadU(d, weight + c));
    }
    hn::StoreU(through, d, dn + c);
  });
  const float along = row_dot(hn::ScalableTag<float>(), dn, u, C) * scale * scale / static_cast<float>(C);
  for_row(C, [&](auto d, std::size_t c) {
    // du = scale * (dn - n * mean(dn n)), n = scale * u
    auto du = hn::Mul(hn::Set(d, scale), hn::NegMulAdd(hn::LoadU(d, u + c), hn::Set(d, along), hn::LoadU(d, dn + c)));
    if (before) {
      hn::StoreU(hn::Mul(hn::Mul(du, hn::LoadU(d, x + c)), hn::LoadU(d, rows.slope + c)), d, to.dgate + at + c);
      du = hn::Mul(du, hn::LoadU(d, rows.silu + c));
    }
    hn::StoreU(du, d, to.dx + at + c);
  });
}

void gated_norm_backward_simd(const GatedNormInput& in, const float* dout, const GatedNormGradients& to,
                              double* totals) {
  constexpr std::size_t kBlock = 64;  // tokens whose dweight is summed in float32
  PartRows rows(in.C);
  AlignedFloats dn(in.C), sums(in.weight_size());
  for (std::size_t first = 0; first < in.T; first += kBlock) {
    std::fill_n(sums.data(), in.weight_size(), 0.0F);
    for (std::size_t t = first; t < std::min(in.T, first + kBlock); ++t)
      for (std::size_t p = 0; p < in.P; ++p) retreat(in, dout, to, t, p, rows, dn.data(), sums.data());
    for (std::size_t i = 0; i < in.weight_size(); ++i) totals[i] += sums.data()[i];
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(gated_norm_simd);
HWY_EXPORT(gated_norm_backward_simd);

void gated_norm(const GatedNormInput& in, float* out) {
  if (use_reference()) return gated_norm_reference(in, out);
  HWY_DYNAMIC_DISPATCH(gated_norm_simd)(in, out);
}

void gated_norm_backward(const GatedNormInput& in, const float* dout, const GatedNormGradients& gradients) {
  if (use_reference()) return gated_norm_backward_reference(in, dout, gradients);
  const AlignedDoubles totals(in.weight_size());
  HWY_DYNAMIC_DISPATCH(gated_norm_backward_simd)(in, dout, gradients, totals);
  for (std::size_t i = 0; in.weight && i < in.weight_size(); ++i) gradients.dweight[i] = static_cast<float>(totals[i]);
}

}  // namespace mneme::kernels
#endif
