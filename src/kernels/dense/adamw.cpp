#include "kernels/dense/adamw.h"

#include <cmath>

#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dense/adamw.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// One vector of any width: the tail runs through the same operations one lane wide. With kNorms, adds the squares of
// the weights and of their change to the sums.
template <bool kNorms, class D, class V = hn::Vec<D>>
HWY_INLINE void update(D d, const AdamWArguments& a, std::size_t i, float rate, float inverse_correction2, V& weights,
                       V& updates) {
  const auto g = hn::Mul(hn::LoadU(d, a.gradients + i), hn::Set(d, static_cast<float>(a.grad_scale)));
  const auto m = hn::MulAdd(hn::Set(d, static_cast<float>(1.0 - a.beta1)), g,
                            hn::Mul(hn::Set(d, static_cast<float>(a.beta1)), hn::LoadU(d, a.first_moment + i)));
  const auto v = hn::MulAdd(hn::Mul(hn::Set(d, static_cast<float>(1.0 - a.beta2)), g), g,
                            hn::Mul(hn::Set(d, static_cast<float>(a.beta2)), hn::LoadU(d, a.second_moment + i)));
  const auto denominator =
      hn::MulAdd(hn::Sqrt(v), hn::Set(d, inverse_correction2), hn::Set(d, static_cast<float>(a.eps)));
  const auto before = hn::LoadU(d, a.parameters + i);
  const auto kept = hn::Mul(before, hn::Set(d, static_cast<float>(1.0 - a.lr * a.decay)));
  hn::StoreU(m, d, a.first_moment + i);
  hn::StoreU(v, d, a.second_moment + i);
  const auto after = hn::NegMulAdd(hn::Set(d, rate), hn::Div(m, denominator), kept);
  hn::StoreU(after, d, a.parameters + i);
  if constexpr (kNorms) {
    const auto change = hn::Sub(after, before);
    weights = hn::MulAdd(before, before, weights);
    updates = hn::MulAdd(change, change, updates);
  }
}

template <bool kNorms>
void adamw_over(const AdamWArguments& a) {
  const auto rate = static_cast<float>(a.lr / (1.0 - std::pow(a.beta1, static_cast<double>(a.step))));
  const auto inverse_correction2 =
      static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(a.beta2, static_cast<double>(a.step))));
  const hn::ScalableTag<float> wide;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(wide);
  auto weights = hn::Zero(wide), updates = hn::Zero(wide);
  auto weights_tail = hn::Zero(one), updates_tail = hn::Zero(one);
  std::size_t i = 0;
  for (; i + lanes <= a.count; i += lanes) update<kNorms>(wide, a, i, rate, inverse_correction2, weights, updates);
  for (; i < a.count; ++i) update<kNorms>(one, a, i, rate, inverse_correction2, weights_tail, updates_tail);
  if constexpr (kNorms) {
    a.norms->weights = static_cast<double>(hn::GetLane(hn::SumOfLanes(wide, weights)) + hn::GetLane(weights_tail));
    a.norms->updates = static_cast<double>(hn::GetLane(hn::SumOfLanes(wide, updates)) + hn::GetLane(updates_tail));
  }
}

void adamw_simd(const AdamWArguments& a) { a.norms ? adamw_over<true>(a) : adamw_over<false>(a); }

double sum_of_squares_simd(const float* values, std::size_t count) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> f;
  const std::size_t lanes = hn::Lanes(d);
  auto sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::PromoteTo(d, hn::LoadU(f, values + i));
    sum = hn::MulAdd(x, x, sum);
  }
  double total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < count; ++i) total += static_cast<double>(values[i]) * values[i];
  return total;
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(adamw_simd);
HWY_EXPORT(sum_of_squares_simd);

void adamw(const AdamWArguments& arguments) {
  if (use_reference()) return adamw_reference(arguments);
  HWY_DYNAMIC_DISPATCH(adamw_simd)(arguments);
}

double sum_of_squares(const float* values, std::size_t count) {
  if (use_reference()) return sum_of_squares_reference(values, count);
  return HWY_DYNAMIC_DISPATCH(sum_of_squares_simd)(values, count);
}

}  // namespace mneme::kernels
#endif
