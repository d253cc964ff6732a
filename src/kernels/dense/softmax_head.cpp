#include "kernels/dense/softmax_head.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dense/softmax_head.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dense/matmul-inl.h"
#include "kernels/dense/outer_products-inl.h"
#include "kernels/simd/row_sums-inl.h"
#include "kernels/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Classes whose logits are worked on together: with the rows of a pass they stay in the second-level cache.
inline constexpr std::size_t kHeadClasses = 252;
// Rows of a pass at most: each pass reads the whole matrix, and adds to the whole of its gradient.
inline constexpr std::size_t kHeadRows = 256;
// Vectors of rows whose maxima are searched at once.
inline constexpr std::size_t kHeadVectors = 4;
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// One pass over the classes for up to kHeadRows rows. Logits are [classes, rows]: the weights are then the left matrix
// of the product, which is read where it is, and sums over classes are sums of vectors.
class HeadPass {
 public:
  HeadPass(const SoftmaxHeadInput& in, bool keeps_all)
      : in_(in),
        blocks_((in.V + kHeadClasses - 1) / kHeadClasses),
        width_(whole_vectors(in.R)),
        pitch_(spread(width_)),
        keeps_all_(keeps_all),
        z_((keeps_all ? blocks_ : 1) * kHeadClasses * pitch_, kUnset),
        maximum_(blocks_ * width_, kUnset),
        share_(blocks_ * width_, kUnset),
        first_(blocks_ * width_),
        label_(in.R, 0.0F) {}

  // Logits, block by block, each turned at once into exponentials of what they are below their block's maximum.
  void forward(float* losses, std::int32_t* predictions) {
    Panels rows(in_.D, in_.R);
    rows.pack_transposed(in_.h, in_.D);
    for (std::size_t b = 0; b < blocks_; ++b) {
      multiply({in_.weight + b * kHeadClasses * in_.D, in_.D, 1}, classes(b), rows, width_, block(b), pitch_);
      if (in_.bias) add_bias(b);
      for (std::size_t r = 0; r < in_.R; ++r)
        if (const std::size_t at = place(r, b); at < kHeadClasses) label_[r] = block(b)[at * pitch_ + r];
      for (std::size_t r = 0; r < width_; r += kMatmulLanes * kHeadVectors) take_exponentials(b, r);
    }
    for (std::size_t r = 0; r < width_; r += kMatmulLanes) join_blocks(r, losses, predictions);
  }

  // With p the probabilities: dz = scale * (p - [label]). p is the exponentials times a share for each row and block,
  // and that is multiplied to what is smaller than they are.
  void backward(const SoftmaxHeadGradients& to) {
    Panels rows(in_.R, in_.D), scaled(in_.R, in_.D);
    rows.pack(in_.h, in_.D);
    ColumnTiles weights(kHeadClasses, in_.D);
    const AlignedFloats dh(in_.D * width_), product(in_.D * width_, kUnset);  // [D, rows]
    for (std::size_t b = 0; b < blocks_; ++b) {
      const std::size_t first = b * kHeadClasses;
      float* share = share_ + b * width_;
      subtract_labels(b);
      for (std::size_t r = 0; r < width_; ++r) share[r] *= to.scale;
      scaled.scale_rows_of(rows, share);
      multiply({block(b), pitch_, 1}, classes(b), scaled, to.dweight + first * in_.D, in_.D, true);
      weights.pack(in_.weight + first * in_.D, in_.D, classes(b));
      for (std::size_t r = 0; r < width_; r += kPanelColumns)
        weights.multiply({kZeros, block(b) + r, pitch_}, product + r, width_, width_ - r);
      add_scaled_columns(product, share, dh);
      if (to.dbias) add_row_sums(b, to.dbias + first);
    }
    transpose(dh, width_, in_.D, in_.R, to.dh, in_.D, false);
    for (const std::size_t r : hopeless_) subtract_label(r, to);
  }

 private:
  std::size_t classes(std::size_t b) const { return std::min(kHeadClasses, in_.V - b * kHeadClasses); }
  float* block(std::size_t b) const {  // [classes, pitch_]
    return z_ + (keeps_all_ ? b * kHeadClasses * pitch_ : 0);
  }
  // The label's place in the block, or kHeadClasses.
  std::size_t place(std::size_t r, std::size_t b) const {
    const auto label = static_cast<std::size_t>(in_.labels[r]);
    return label / kHeadClasses == b ? label % kHeadClasses : kHeadClasses;
  }

  void add_bias(std::size_t b) {
    const MatmulFloats d;
    for (std::size_t v = 0; v < classes(b); ++v)
      for (std::size_t r = 0; r < width_; r += kMatmulLanes) {
        float* z = block(b) + v * pitch_ + r;
        hn::Store(hn::Add(hn::Load(d, z), hn::Set(d, in_.bias[b * kHeadClasses + v])), d, z);
      }
  }

  // Of kHeadVectors vectors of rows, or of those that there are.
  void take_exponentials(std::size_t b, std::size_t first) {
    if (first + kHeadVectors * kMatmulLanes <= width_) return exponentials<kHeadVectors>(b, first);
    for (std::size_t r = first; r < width_; r += kMatmulLanes) exponentials<1>(b, r);
  }

  // Maxima over the block's classes, where they first occur, exponentials and their sums.
  template <std::size_t N>
  void exponentials(std::size_t b, std::size_t first) {
    const MatmulFloats d;
    const hn::RebindToSigned<MatmulFloats> integers;
    float* z = block(b) + first;
    hn::Vec<MatmulFloats> maximum[N], sum[N];
    hn::Vec<decltype(integers)> at[N];
    for (std::size_t i = 0; i < N; ++i) {
      maximum[i] = hn::Set(d, -kInfinity);
      at[i] = hn::Zero(integers);
    }
    for (std::size_t v = 0; v < classes(b); ++v)
      for (std::size_t i = 0; i < N; ++i) {
        const auto x = hn::Load(d, z + v * pitch_ + i * kMatmulLanes);
        const auto larger = hn::Gt(x, maximum[i]);
        maximum[i] = hn::IfThenElse(larger, x, maximum[i]);
        at[i] =
            hn::IfThenElse(hn::RebindMask(integers, larger), hn::Set(integers, static_cast<std::int32_t>(v)), at[i]);
      }
    const std::size_t kept = b * width_ + first;
    for (std::size_t i = 0; i < N; ++i) {
      hn::Store(maximum[i], d, maximum_ + kept + i * kMatmulLanes);
      hn::StoreU(at[i], integers, first_.data() + kept + i * kMatmulLanes);
      // Minus infinity everywhere: exponentials of zero, relative to anything.
      maximum[i] = hn::IfThenElse(hn::Eq(maximum[i], hn::Set(d, -kInfinity)), hn::Zero(d), maximum[i]);
      sum[i] = hn::Zero(d);
    }
    for (std::size_t v = 0; v < classes(b); ++v)
      for (std::size_t i = 0; i < N; ++i) {
        float* to = z + v * pitch_ + i * kMatmulLanes;
        const auto e = decay_exp(d, hn::Sub(hn::Load(d, to), maximum[i]));
        sum[i] = hn::Add(sum[i], e);
        hn::Store(e, d, to);
      }
    for (std::size_t i = 0; i < N; ++i) hn::Store(sum[i], d, share_ + kept + i * kMatmulLanes);
  }

  // What the blocks have found about a vector of rows, taken together: sums of the blocks become the shares that make
  // probabilities of their exponentials. A logit that is not a number has made its block's sum one too.
  void join_blocks(std::size_t first, float* losses, std::int32_t* predictions) {
    const MatmulFloats d;
    auto largest = hn::Set(d, -kInfinity);
    for (std::size_t b = 0; b < blocks_; ++b) largest = hn::Max(largest, hn::Load(d, maximum_ + b * width_ + first));
    HWY_ALIGN float maxima[kMatmulLanes], relative[kMatmulLanes];
    hn::Store(largest, d, maxima);
    double sums[kMatmulLanes] = {};
    for (std::size_t b = 0; b < blocks_; ++b) {
      const std::size_t i = b * width_ + first;
      hn::Store(decay_exp(d, hn::Sub(hn::Load(d, maximum_ + i), largest)), d, relative);
      for (std::size_t r = 0; r < kMatmulLanes; ++r) {
        sums[r] += static_cast<double>(relative[r]) * share_[i + r];
        share_[i + r] = relative[r];
      }
    }
    for (std::size_t r = 0; r < kMatmulLanes; ++r)
      if (!std::isfinite(sums[r]) || std::isinf(maxima[r])) sums[r] = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t b = 0; b < blocks_; ++b)
      for (std::size_t r = 0; r < kMatmulLanes; ++r) {
        float& share = share_[b * width_ + first + r];
        share = static_cast<float>(share / sums[r]);
      }
    for (std::size_t r = first; r < std::min(first + kMatmulLanes, in_.R); ++r) {
      const double sum = sums[r - first];
      losses[r] = static_cast<float>(std::log(sum) + maxima[r - first] - label_[r]);
      predictions[r] = std::isnan(sum) ? -1 : place_of(maxima[r - first], r);
    }
  }

  // The first class with that logit.
  std::int32_t place_of(float maximum, std::size_t r) const {
    std::size_t b = 0;
    while (maximum_[b * width_ + r] != maximum) ++b;
    return static_cast<std::int32_t>(b * kHeadClasses) + first_[b * width_ + r];
  }

  // to [D, rows] += from, column r times by[r].
  void add_scaled_columns(const float* from, const float* by, float* to) const {
    const MatmulFloats d;
    for (std::size_t i = 0; i < in_.D; ++i)
      for (std::size_t r = 0; r < width_; r += kMatmulLanes) {
        float* at = to + i * width_ + r;
        hn::Store(hn::MulAdd(hn::Load(d, from + i * width_ + r), hn::Load(d, by + r), hn::Load(d, at)), d, at);
      }
  }

  void add_row_sums(std::size_t b, float* to) const {
    for (std::size_t v = 0; v < classes(b); ++v)
      to[v] += row_dot(MatmulFloats(), block(b) + v * pitch_, share_ + b * width_, in_.R);
  }

  // From the exponentials of a block: what becomes 1 when it is multiplied by its share. Where that would be too much
  // for a float, the label's probability is zero.
  void subtract_labels(std::size_t b) {
    constexpr float kLeastShare = 1e-30F;
    for (std::size_t r = 0; r < in_.R; ++r) {
      const std::size_t at = place(r, b);
      if (at == kHeadClasses) continue;
      const float share = share_[b * width_ + r];
      float& exponential = block(b)[at * pitch_ + r];
      if (share < kLeastShare)
        hopeless_.push_back(r);
      else
        exponential = static_cast<float>(exponential - 1.0 / share);
    }
  }

  void subtract_label(std::size_t r, const SoftmaxHeadGradients& to) const {
    const auto label = static_cast<std::size_t>(in_.labels[r]);
    for (std::size_t i = 0; i < in_.D; ++i) {
      to.dh[r * in_.D + i] -= to.scale * in_.weight[label * in_.D + i];
      to.dweight[label * in_.D + i] -= to.scale * in_.h[r * in_.D + i];
    }
    if (to.dbias) to.dbias[label] -= to.scale;
  }

  const SoftmaxHeadInput& in_;
  std::size_t blocks_, width_, pitch_;  // width_: rows, filled up to whole vectors
  bool keeps_all_;
  AlignedFloats z_;  // [blocks, kHeadClasses, pitch_]
  // [blocks, width_]: a block's maxima, the sums of its exponentials and later the factors to their probabilities.
  AlignedFloats maximum_, share_;
  std::vector<std::int32_t> first_;  // the maxima's places in their blocks
  std::vector<float> label_;
  std::vector<std::size_t> hopeless_;  // rows whose label has probability zero
};

void softmax_head_simd(const SoftmaxHeadInput& in, float* losses, std::int32_t* predictions,
                       const SoftmaxHeadGradients* gradients) {
  const std::size_t passes = (in.R + kHeadRows - 1) / kHeadRows;
  for (std::size_t pass = 0, first = 0; pass < passes; ++pass) {
    const std::size_t end = in.R * (pass + 1) / passes;
    SoftmaxHeadInput part = in;
    part.R = end - first;
    part.h += first * in.D;
    part.labels += first;
    HeadPass rows(part, gradients != nullptr);
    rows.forward(losses + first, predictions + first);
    if (gradients)
      rows.backward({gradients->scale, gradients->dh + first * in.D, gradients->dweight, gradients->dbias});
    first = end;
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(softmax_head_simd);

void softmax_head(const SoftmaxHeadInput& in, float* losses, std::int32_t* predictions,
                  const SoftmaxHeadGradients* gradients) {
  if (use_reference()) return softmax_head_reference(in, losses, predictions, gradients);
  HWY_DYNAMIC_DISPATCH(softmax_head_simd)(in, losses, predictions, gradients);
}

}  // namespace mneme::kernels
#endif
