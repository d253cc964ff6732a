#include "kernels/conv/transformed_conv.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/simd/aligned_floats.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/transformed_conv.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/conv/complex_transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

// One vector of channels: which of the C there are.
struct Lanes {
  std::size_t C, first, count;
};

// Two real sequences of one vector of channels, one as the real and one as the imaginary part. A real kernel leaves
// them apart, so one transform serves both; a lone sequence is paired with zeros.
class Pair {
 public:
  explicit Pair(const TransformTables& tables)
      : tables_(tables), lanes_(hn::Lanes(TransformFloats())), memory_(2 * tables.size() * lanes_) {}

  // Steps that are not read are zero. `second` may be nullptr.
  void read(const float* first, const float* second, std::size_t steps, const Lanes& lanes) {
    if (second == nullptr || lanes.count < lanes_) std::fill(row(0), row(steps), 0.0F);
    for (std::size_t t = 0; t < steps; ++t) {
      copy(first + t * lanes.C + lanes.first, row(t), lanes);
      if (second != nullptr) copy(second + t * lanes.C + lanes.first, row(t) + lanes_, lanes);
    }
    std::fill(row(steps), row(tables_.size() / 2), 0.0F);
  }
  void write(float* first, float* second, std::size_t steps, const Lanes& lanes) const {
    for (std::size_t t = 0; t < steps; ++t) {
      copy(row(t), first + t * lanes.C + lanes.first, lanes);
      if (second != nullptr) copy(row(t) + lanes_, second + t * lanes.C + lanes.first, lanes);
    }
  }

  // To the spectrum, and back from it to the first half of the steps.
  void transform_steps() { transform_padded(column(), tables_.size(), tables_); }
  void transform_spectrum() { transform_back_padded(column(), tables_.size(), tables_); }

  void multiply(const Pair& kernel) {
    for (std::size_t k = 0; k < tables_.size(); ++k) column().set(k, column()[k] * kernel.column()[k]);
  }
  void multiply_conjugate(const Pair& kernel) {
    for (std::size_t k = 0; k < tables_.size(); ++k) column().set(k, times_conjugate(column()[k], kernel.column()[k]));
  }
  // The real part of what this transforms back to is the sum of both sequences' correlations.
  void add_correlation(const Pair& dy, const Pair& x) {
    for (std::size_t k = 0; k < tables_.size(); ++k)
      column().set(k, column()[k] + times_conjugate(dy.column()[k], x.column()[k]));
  }
  void scale(float factor) {
    const TransformFloats d;
    const auto by = hn::Set(d, factor);
    for (std::size_t k = 0; k < tables_.size(); ++k)
      column().set(k, {hn::Mul(by, column()[k].re), hn::Mul(by, column()[k].im)});
  }
  void clear() { std::fill_n(memory_.data(), 2 * tables_.size() * lanes_, 0.0F); }

 private:
  // A whole vector at once: copies of a size that the compiler does not know cost more than the transforms.
  HWY_INLINE void copy(const float* from, float* to, const Lanes& lanes) const {
    const TransformFloats d;
    if (lanes.count == lanes_)
      hn::StoreU(hn::LoadU(d, from), d, to);
    else
      std::memcpy(to, from, lanes.count * sizeof(float));
  }
  const float* row(std::size_t t) const { return memory_ + 2 * t * lanes_; }
  float* row(std::size_t t) { return memory_ + 2 * t * lanes_; }
  // Reading through a const pair is fine: a column is a view.
  ComplexColumn column() const { return {const_cast<float*>(memory_.data()), lanes_}; }

  const TransformTables& tables_;
  std::size_t lanes_;
  AlignedFloats memory_;
};

// A circle of 2 L steps or more: nothing wraps into what is read from it, and what is read lies in its first half.
const TransformTables& tables_for(std::size_t L) {
  return transform_tables(std::bit_ceil(std::max<std::size_t>(2 * L, 4)));
}

// The spectrum of the kernel with the factor that the way back needs.
void read_kernel(Pair& pair, const float* kernel, std::size_t taps, const Lanes& channels,
                 const TransformTables& tables) {
  pair.read(kernel, nullptr, taps, channels);
  pair.transform_steps();
  pair.scale(1.0F / static_cast<float>(tables.size()));
}

// The sequence after b, to go with it.
template <class Float>
Float* partner(Float* rows, std::size_t b, const LongConvShape& shape) {
  return b + 1 < shape.B ? rows + (b + 1) * shape.L * shape.C : nullptr;
}

void transformed_conv_simd(const LongConvInput& in, float* out) {
  const auto [B, L, K, C] = in.shape;
  const std::size_t lanes = hn::Lanes(TransformFloats()), taps = std::min(K, L);
  const TransformTables& tables = tables_for(L);
  Pair kernel(tables), x(tables);
  for (std::size_t c = 0; c < C; c += lanes) {
    const Lanes channels{C, c, std::min(lanes, C - c)};
    read_kernel(kernel, in.kernel, taps, channels, tables);
    for (std::size_t b = 0; b < B; b += 2) {
      x.read(in.x + b * L * C, partner(in.x, b, in.shape), L, channels);
      x.transform_steps();
      x.multiply(kernel);
      x.transform_spectrum();
      x.write(out + b * L * C, partner(out, b, in.shape), L, channels);
    }
  }
}

// dx is the correlation of dy with the kernel, dkernel that of dy with x, whose spectra add up over the batch before
// one transform back.
void transformed_conv_backward_simd(const LongConvInput& in, const float* dout, const LongConvGradients& gradients) {
  const auto [B, L, K, C] = in.shape;
  const std::size_t lanes = hn::Lanes(TransformFloats()), taps = std::min(K, L);
  const TransformTables& tables = tables_for(L);
  Pair kernel(tables), x(tables), dy(tables), dk(tables);
  for (std::size_t c = 0; c < C; c += lanes) {
    const Lanes channels{C, c, std::min(lanes, C - c)};
    read_kernel(kernel, in.kernel, taps, channels, tables);
    dk.clear();
    for (std::size_t b = 0; b < B; b += 2) {
      dy.read(dout + b * L * C, partner(dout, b, in.shape), L, channels);
      dy.transform_steps();
      if (gradients.dkernel) {
        x.read(in.x + b * L * C, partner(in.x, b, in.shape), L, channels);
        x.transform_steps();
        dk.add_correlation(dy, x);
      }
      if (gradients.dx) {
        dy.multiply_conjugate(kernel);
        dy.transform_spectrum();
        dy.write(gradients.dx + b * L * C, partner(gradients.dx, b, in.shape), L, channels);
      }
    }
    if (!gradients.dkernel) continue;
    dk.scale(1.0F / static_cast<float>(tables.size()));
    dk.transform_spectrum();
    dk.write(gradients.dkernel, nullptr, taps, channels);
  }
  if (gradients.dkernel) std::fill(gradients.dkernel + taps * C, gradients.dkernel + K * C, 0.0F);
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(transformed_conv_simd);
HWY_EXPORT(transformed_conv_backward_simd);

void transformed_conv(const LongConvInput& in, float* out) { HWY_DYNAMIC_DISPATCH(transformed_conv_simd)(in, out); }

void transformed_conv_backward(const LongConvInput& in, const float* dout, const LongConvGradients& gradients) {
  HWY_DYNAMIC_DISPATCH(transformed_conv_backward_simd)(in, dout, gradients);
}

}  // namespace mneme::kernels
#endif
