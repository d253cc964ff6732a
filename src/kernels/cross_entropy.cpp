#include "kernels/cross_entropy.h"

#include <cmath>
#include <limits>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cross_entropy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;

namespace {

struct RowMaximum {
  float value;
  bool has_nan;
};

RowMaximum row_maximum(const float* z, std::size_t classes) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  auto maximum = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto nan = hn::FirstN(d, 0);
  std::size_t v = 0;
  for (; v + lanes <= classes; v += lanes) {
    const auto x = hn::LoadU(d, z + v);
    maximum = hn::Max(maximum, x);
    nan = hn::Or(nan, hn::IsNaN(x));
  }
  float value = hn::GetLane(hn::MaxOfLanes(d, maximum));
  bool has_nan = !hn::AllFalse(d, nan);
  for (; v < classes; ++v) {
    value = z[v] > value ? z[v] : value;
    has_nan = has_nan || std::isnan(z[v]);
  }
  return {value, has_nan};
}

std::int32_t first_equal(const float* z, std::size_t classes, float value) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const auto wanted = hn::Set(d, value);
  std::size_t v = 0;
  for (; v + lanes <= classes; v += lanes) {
    const auto found = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, z + v), wanted));
    if (found >= 0) return static_cast<std::int32_t>(v + static_cast<std::size_t>(found));
  }
  while (z[v] != value) ++v;
  return static_cast<std::int32_t>(v);
}

// z <- exp(z - maximum) if `store`; returns the sum.
float exponentials(float* z, std::size_t classes, float maximum, bool store) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const auto shift = hn::Set(d, maximum);
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d);
  std::size_t v = 0;
  for (; v + 2 * lanes <= classes; v += 2 * lanes) {
    const auto e0 = hn::Exp(d, hn::Sub(hn::LoadU(d, z + v), shift));
    const auto e1 = hn::Exp(d, hn::Sub(hn::LoadU(d, z + v + lanes), shift));
    sum0 = hn::Add(sum0, e0);
    sum1 = hn::Add(sum1, e1);
    if (store) {
      hn::StoreU(e0, d, z + v);
      hn::StoreU(e1, d, z + v + lanes);
    }
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  for (; v < classes; ++v) {
    const float e = std::exp(z[v] - maximum);
    sum += e;
    if (store) z[v] = e;
  }
  return sum;
}

void multiply(float* z, std::size_t count, float factor) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const auto by = hn::Set(d, factor);
  std::size_t v = 0;
  for (; v + lanes <= count; v += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, z + v), by), d, z + v);
  for (; v < count; ++v) z[v] *= factor;
}

void fill(float* z, std::size_t count, float value) {
  for (std::size_t v = 0; v < count; ++v) z[v] = value;
}

}  // namespace

void cross_entropy_simd(const CrossEntropyArguments& a) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t r = 0; r < a.rows; ++r) {
    float* z = a.logits + r * a.classes;
    const auto [maximum, has_nan] = row_maximum(z, a.classes);
    if (has_nan || std::isinf(maximum)) {
      a.losses[r] = kNaN;
      a.predictions[r] = -1;
      if (a.gradient) fill(z, a.classes, kNaN);
      continue;
    }
    a.predictions[r] = first_equal(z, a.classes, maximum);
    const auto label = static_cast<std::size_t>(a.labels[r]);
    const float asked = z[label];
    const float sum = exponentials(z, a.classes, maximum, a.gradient);
    a.losses[r] = std::log(sum) + (maximum - asked);
    if (!a.gradient) continue;
    multiply(z, a.classes, a.scale / sum);
    z[label] -= a.scale;
  }
}

}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(cross_entropy_simd);

void cross_entropy(const CrossEntropyArguments& arguments) {
  if (use_reference()) return cross_entropy_reference(arguments);
  HWY_DYNAMIC_DISPATCH(cross_entropy_simd)(arguments);
}

}  // namespace mneme::kernels
#endif
