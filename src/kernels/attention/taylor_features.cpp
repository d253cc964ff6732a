#include "kernels/attention/taylor_features.h"

#include <cmath>
#include <cstring>

#include "kernels/simd/aligned_floats.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/taylor_features.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, kMaxLanes>;

struct Scales {
  explicit Scales(std::size_t F)
      : linear(static_cast<float>(1.0 / std::sqrt(std::sqrt(static_cast<double>(F))))),
        pair(static_cast<float>(1.0 / std::sqrt(static_cast<double>(F)))),
        diagonal(static_cast<float>(std::sqrt(0.5))) {}
  float linear, pair, diagonal;  // the diagonal's factor, next to that of a pair
};

// Rows are made in padded memory: a vector that runs over the end of one i is overwritten by the next.
void taylor_features_simd(const float* x, std::size_t R, std::size_t F, float* phi) {
  const Floats d;
  const Scales scales(F);
  const std::size_t width = taylor_features_width(F), lanes = hn::Lanes(d);
  AlignedFloats in(F + kMaxLanes), out(width + kMaxLanes);
  for (std::size_t r = 0; r < R; ++r, x += F, phi += width) {
    std::memcpy(in.data(), x, F * sizeof(float));
    out.data()[0] = 1.0F;
    for (std::size_t i = 0; i < F; ++i) out.data()[1 + i] = x[i] * scales.linear;
    float* to = out + (1 + F);
    for (std::size_t i = 0; i < F; to += F - i, ++i) {
      const float scaled = x[i] * scales.pair;
      for (std::size_t j = i; j < F; j += lanes)
        hn::StoreU(hn::Mul(hn::Set(d, scaled), hn::LoadU(d, in + j)), d, to + (j - i));
      to[0] = scaled * x[i] * scales.diagonal;
    }
    std::memcpy(phi, out.data(), width * sizeof(float));
  }
}

void taylor_features_backward_simd(const float* x, const float* dphi, std::size_t R, std::size_t F, float* dx) {
  const Floats d;
  const Scales scales(F);
  const std::size_t width = taylor_features_width(F), lanes = hn::Lanes(d);
  // Channels beyond F are zero, so that what is read beyond the pairs of one i counts nothing.
  AlignedFloats in(F + kMaxLanes), grad(width + kMaxLanes), out(F + kMaxLanes);
  for (std::size_t r = 0; r < R; ++r, x += F, dphi += width, dx += F) {
    std::memcpy(in.data(), x, F * sizeof(float));
    std::memcpy(grad.data(), dphi, width * sizeof(float));
    for (std::size_t i = 0; i < F; ++i) out.data()[i] = dphi[1 + i] * scales.linear;
    float* from = grad + (1 + F);
    for (std::size_t i = 0; i < F; from += F - i, ++i) {
      from[0] *= scales.diagonal;
      const auto scaled = hn::Set(d, x[i] * scales.pair);
      auto sum = hn::Zero(d);
      for (std::size_t j = i; j < F; j += lanes) {
        const auto g = hn::LoadU(d, from + (j - i));
        sum = hn::MulAdd(g, hn::LoadU(d, in + j), sum);
        hn::StoreU(hn::MulAdd(g, scaled, hn::LoadU(d, out + j)), d, out + j);
      }
      out.data()[i] += hn::GetLane(hn::SumOfLanes(d, sum)) * scales.pair;
    }
    std::memcpy(dx, out.data(), F * sizeof(float));
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(taylor_features_simd);
HWY_EXPORT(taylor_features_backward_simd);

void taylor_features(const float* x, std::size_t R, std::size_t F, float* phi) {
  if (use_reference()) return taylor_features_reference(x, R, F, phi);
  HWY_DYNAMIC_DISPATCH(taylor_features_simd)(x, R, F, phi);
}

void taylor_features_backward(const float* x, const float* dphi, std::size_t R, std::size_t F, float* dx) {
  if (use_reference()) return taylor_features_backward_reference(x, dphi, R, F, dx);
  HWY_DYNAMIC_DISPATCH(taylor_features_backward_simd)(x, dphi, R, F, dx);
}

}  // namespace mneme::kernels
#endif
