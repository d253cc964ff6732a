#include "kernels/dense/layer_norm.h"

#include <cmath>

#include "kernels/simd/aligned_floats.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dense/layer_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

struct NormMoments {
  float mean, scale;
};

HWY_INLINE float row_total(const float* row, std::size_t D) {
  const hn::ScalableTag<float> d;
  auto sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= D; i += hn::Lanes(d)) sum = hn::Add(sum, hn::LoadU(d, row + i));
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < D; ++i) total += row[i];
  return total;
}

// The sum of (row - mean)^2.
HWY_INLINE float row_spread(const float* row, std::size_t D, float mean) {
  const hn::ScalableTag<float> d;
  auto sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= D; i += hn::Lanes(d)) {
    const auto centred = hn::Sub(hn::LoadU(d, row + i), hn::Set(d, mean));
    sum = hn::MulAdd(centred, centred, sum);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < D; ++i) total += (row[i] - mean) * (row[i] - mean);
  return total;
}

HWY_INLINE NormMoments moments_of(const LayerNormInput& norm, const float* row) {
  const auto D = static_cast<float>(norm.D);
  const float mean = row_total(row, norm.D) / D;
  return {mean, 1.0F / std::sqrt(row_spread(row, norm.D, mean) / D + norm.eps)};
}

void layer_norm_simd(const LayerNormInput& norm, float* y, const LayerNormSaved& saved) {
  const float *a = norm.a, *b = norm.b;
  float* r = saved.r;
  for (std::size_t t = 0; t < norm.T; ++t, a += norm.D, y += norm.D) {
    const float* row = a;
    if (b) {
      for_row(norm.D,
              [&](auto d, std::size_t i) { hn::StoreU(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, r + i); });
      row = r;
      b += norm.D;
      r += norm.D;
    }
    const NormMoments moments = moments_of(norm, row);
    for_row(norm.D, [&](auto d, std::size_t i) {
      const auto n = hn::Mul(hn::Sub(hn::LoadU(d, row + i), hn::Set(d, moments.mean)), hn::Set(d, moments.scale));
      hn::StoreU(hn::MulAdd(n, hn::LoadU(d, norm.weight + i), hn::LoadU(d, norm.bias + i)), d, y + i);
    });
  }
}

void layer_norm_backward_simd(const LayerNormInput& norm, const LayerNormSaved& saved, const float* dout,
                              const LayerNormGradients& gradients) {
  const float *r = saved.r, *through = gradients.through;
  float *dr = gradients.dr, *dweight = gradients.dweight, *dbias = gradients.dbias;
  const std::size_t D = norm.D;
  AlignedFloats scratch(2 * padded(D));
  float *n = scratch.take(D), *dn = scratch.take(D);
  for (std::size_t t = 0; t < norm.T; ++t, r += D, dout += D, dr += D) {
    const NormMoments moments = moments_of(norm, r);
    for_row(D, [&](auto d, std::size_t i) {
      const auto gradient = hn::LoadU(d, dout + i);
      const auto normal = hn::Mul(hn::Sub(hn::LoadU(d, r + i), hn::Set(d, moments.mean)), hn::Set(d, moments.scale));
      hn::StoreU(normal, d, n + i);
      hn::StoreU(hn::Mul(gradient, hn::LoadU(d, norm.weight + i)), d, dn + i);
      hn::StoreU(hn::MulAdd(gradient, normal, hn::LoadU(d, dweight + i)), d, dweight + i);
      hn::StoreU(hn::Add(gradient, hn::LoadU(d, dbias + i)), d, dbias + i);
    });
    const float mean = row_total(dn, D) / static_cast<float>(D);
    const float along = row_dot(hn::ScalableTag<float>(), dn, n, D) / static_cast<float>(D);
    for_row(D, [&](auto d, std::size_t i) {
      const auto centred = hn::Sub(hn::LoadU(d, dn + i), hn::Set(d, mean));
      auto gradient =
          hn::Mul(hn::NegMulAdd(hn::LoadU(d, n + i), hn::Set(d, along), centred), hn::Set(d, moments.scale));
      if (through) gradient = hn::Add(gradient, hn::LoadU(d, through + i));
      hn::StoreU(gradient, d, dr + i);
    });
    if (through) through += D;
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(layer_norm_simd);
HWY_EXPORT(layer_norm_backward_simd);

void layer_norm(const LayerNormInput& in, float* out, const LayerNormSaved& saved) {
  if (use_reference()) return layer_norm_reference(in, out, saved);
  HWY_DYNAMIC_DISPATCH(layer_norm_simd)(in, out, saved);
}

void layer_norm_backward(const LayerNormInput& in, const LayerNormSaved& saved, const float* dout,
                         const LayerNormGradients& gradients) {
  if (use_reference()) return layer_norm_backward_reference(in, saved, dout, gradients);
  HWY_DYNAMIC_DISPATCH(layer_norm_backward_simd)(in, saved, dout, gradients);
}

}  // namespace mneme::kernels
#endif
