#include "kernels/softmax_head.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax_head.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/matmul-inl.h"
#include "kernels/row_sums-inl.h"
#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Classes whose logits are worked on together: with the rows of a pass they stay in the second-level cache.
inline constexpr std::size_t kHeadClasses = 256;
// Rows of a pass at most: each pass reads the whole matrix, and adds to the whole of its gradient.
inline constexpr std::size_t kHeadRows = 252;
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct HeadMaximum {
  float value;
  bool has_nan;
};

HWY_INLINE HeadMaximum maximum_of(const float* z, std::size_t count) {
  const hn::ScalableTag<float> d;
  auto maximum = hn::Set(d, -kInfinity);
  auto nan = hn::FirstN(d, 0);
  std::size_t v = 0;
  for (; v + hn::Lanes(d) <= count; v += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, z + v);
    maximum = hn::Max(maximum, x);
    nan = hn::Or(nan, hn::IsNaN(x));
  }
  HeadMaximum result{hn::GetLane(hn::MaxOfLanes(d, maximum)), !hn::AllFalse(d, nan)};
  for (; v < count; ++v) {
    result.value = z[v] > result.value ? z[v] : result.value;
    result.has_nan = result.has_nan || std::isnan(z[v]);
  }
  return result;
}

// z <- exp(z - shift), shift >= z; returns the sum.
HWY_INLINE float exponentials(float* z, std::size_t count, float shift) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const auto exponential = [&](auto tag, std::size_t v) {
    const auto e = decay_exp(tag, hn::Sub(hn::LoadU(tag, z + v), hn::Set(tag, shift)));
    hn::StoreU(e, tag, z + v);
    return e;
  };
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t v = 0;
  for (; v + 2 * lanes <= count; v += 2 * lanes) {
    sum0 = hn::Add(sum0, exponential(d, v));
    sum1 = hn::Add(sum1, exponential(d, v + lanes));
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  for (; v < count; ++v) sum += hn::GetLane(exponential(one, v));
  return sum;
}

// One pass over the classes for up to kHeadRows rows.
class HeadPass {
 public:
  explicit HeadPass(const SoftmaxHead& in)
      : in_(in),
        blocks_((in.V + kHeadClasses - 1) / kHeadClasses),
        z_(aligned_floats(in.R * blocks_ * kHeadClasses)),
        block_maximum_(in.R * blocks_),
        maximum_(in.R, -kInfinity),
        sum_(in.R, 0.0),
        label_(in.R, 0.0F),
        broken_(in.R, false) {}

  // Logits, block by block, each turned at once into exponentials of what they are below their block's maximum.
  void forward(float* losses, std::int32_t* predictions) {
    for (std::size_t b = 0; b < blocks_; ++b) {
      const std::size_t first = b * kHeadClasses, count = classes(b);
      Panels panels(in_.D, count);
      panels.pack_transposed(in_.weight + first * in_.D, in_.D, in_.bias ? in_.bias + first : nullptr);
      multiply({in_.h, in_.D, 1}, in_.R, panels, block(b), kHeadClasses);
      for (std::size_t r = 0; r < in_.R; ++r) visit(r, b, predictions[r]);
    }
    for (std::size_t r = 0; r < in_.R; ++r) {
      broken_[r] = broken_[r] || std::isinf(maximum_[r]);
      if (broken_[r]) predictions[r] = -1;
      losses[r] = broken_[r] ? std::numeric_limits<float>::quiet_NaN()
                             : static_cast<float>(std::log(sum_[r]) + maximum_[r] - label_[r]);
    }
  }

  void backward(const SoftmaxHeadGradients& to) {
    Panels rows(in_.R, in_.D);
    rows.pack(in_.h, in_.D);
    for (std::size_t b = 0; b < blocks_; ++b) {
      const std::size_t first = b * kHeadClasses, count = classes(b);
      for (std::size_t r = 0; r < in_.R; ++r) differentiate(r, b, to.scale);
      Panels panels(count, in_.D);
      panels.pack(in_.weight + first * in_.D, in_.D);
      multiply({block(b), kHeadClasses, 1}, in_.R, panels, to.dh, in_.D, b > 0);
      add_outer_products(block(b), kHeadClasses, count, rows, to.dweight + first * in_.D, in_.D);
      if (to.dbias) add_rows(block(b), kHeadClasses, in_.R, count, to.dbias + first);
    }
  }

 private:
  std::size_t classes(std::size_t b) const { return std::min(kHeadClasses, in_.V - b * kHeadClasses); }
  float* block(std::size_t b) const { return z_.get() + b * in_.R * kHeadClasses; }  // [R, kHeadClasses]
  // The label's place in the block, or kHeadClasses.
  std::size_t place(std::size_t r, std::size_t b) const {
    const auto label = static_cast<std::size_t>(in_.labels[r]);
    return label / kHeadClasses == b ? label % kHeadClasses : kHeadClasses;
  }

  void visit(std::size_t r, std::size_t b, std::int32_t& prediction) {
    float* z = block(b) + r * kHeadClasses;
    if (const std::size_t at = place(r, b); at < kHeadClasses) label_[r] = z[at];
    const HeadMaximum maximum = maximum_of(z, classes(b));
    broken_[r] = broken_[r] || maximum.has_nan;
    if (maximum.value > maximum_[r]) {
      prediction = static_cast<std::int32_t>(b * kHeadClasses +
                                             static_cast<std::size_t>(std::find(z, z + classes(b), maximum.value) - z));
      sum_[r] *= std::exp(static_cast<double>(maximum_[r]) - maximum.value);
      maximum_[r] = maximum.value;
    }
    // Minus infinity everywhere: exponentials of zero, relative to anything.
    const bool empty = maximum.value == -kInfinity;
    block_maximum_[b * in_.R + r] = empty ? maximum_[r] : maximum.value;
    const double sum = exponentials(z, classes(b), empty ? 0.0F : maximum.value);
    if (!empty) sum_[r] += sum * std::exp(static_cast<double>(maximum.value) - maximum_[r]);
  }

  // Exponentials of a row's block -> gradient of the logits.
  void differentiate(std::size_t r, std::size_t b, float scale) {
    float* z = block(b) + r * kHeadClasses;
    const double share = scale * std::exp(static_cast<double>(block_maximum_[b * in_.R + r]) - maximum_[r]) / sum_[r];
    const float by = broken_[r] ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(share);
    for_row(classes(b),
            [&](auto d, std::size_t v) { hn::StoreU(hn::Mul(hn::LoadU(d, z + v), hn::Set(d, by)), d, z + v); });
    if (const std::size_t at = place(r, b); at < kHeadClasses) z[at] -= scale;
  }

  const SoftmaxHead& in_;
  std::size_t blocks_;
  hwy::AlignedFreeUniquePtr<float[]> z_;  // [blocks, R, kHeadClasses]
  std::vector<float> block_maximum_;      // [blocks, R]: what the exponentials of a block are relative to
  std::vector<float> maximum_;
  std::vector<double> sum_;  // relative to maximum_
  std::vector<float> label_;
  std::vector<bool> broken_;
};

void softmax_head_simd(const SoftmaxHead& in, float* losses, std::int32_t* predictions,
                       const SoftmaxHeadGradients* gradients) {
  const std::size_t passes = (in.R + kHeadRows - 1) / kHeadRows;
  for (std::size_t pass = 0, first = 0; pass < passes; ++pass) {
    const std::size_t end = in.R * (pass + 1) / passes;
    SoftmaxHead part = in;
    part.R = end - first;
    part.h += first * in.D;
    part.labels += first;
    HeadPass rows(part);
    rows.forward(losses + first, predictions + first);
    if (gradients)
      rows.backward({gradients->scale, gradients->dh + first * in.D, gradients->dweight, gradients->dbias});
    first = end;
  }
}

}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(softmax_head_simd);

void softmax_head(const SoftmaxHead& in, float* losses, std::int32_t* predictions,
                  const SoftmaxHeadGradients* gradients) {
  if (use_reference()) return softmax_head_reference(in, losses, predictions, gradients);
  HWY_DYNAMIC_DISPATCH(softmax_head_simd)(in, losses, predictions, gradients);
}

}  // namespace mneme::kernels
#endif
