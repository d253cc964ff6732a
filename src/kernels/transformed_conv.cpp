#include "kernels/transformed_conv.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/aligned_floats.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/transformed_conv.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/real_transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

// One vector of channels: which of the C there are.
struct Lanes {
  std::size_t C, first, count;
};

// Two real steps make one complex one, and that is how they already lie in memory: step t is row t.
class Sequence {
 public:
  explicit Sequence(const TransformTables& tables)
      : tables_(tables), lanes_(hn::Lanes(TransformFloats())), memory_(2 * tables.size() * lanes_) {}

  void read(const float* source, std::size_t steps, const Lanes& lanes, bool reversed) {
    std::fill_n(memory_.data(), 2 * tables_.size() * lanes_, 0.0F);
    for (std::size_t t = 0; t < steps; ++t)
      std::memcpy(row(reversed ? steps - 1 - t : t), source + t * lanes.C + lanes.first, lanes.count * sizeof(float));
  }
  void write(float* target, std::size_t steps, const Lanes& lanes, bool reversed) {
    for (std::size_t t = 0; t < steps; ++t)
      std::memcpy(target + t * lanes.C + lanes.first, row(reversed ? steps - 1 - t : t), lanes.count * sizeof(float));
  }
  const float* row(std::size_t t) const { return memory_ + t * lanes_; }
  float* row(std::size_t t) { return memory_ + t * lanes_; }
  ComplexColumn column() { return {memory_.data(), lanes_}; }

 private:
  const TransformTables& tables_;
  std::size_t lanes_;
  AlignedFloats memory_;
};

class Spectrum {
 public:
  explicit Spectrum(const TransformTables& tables)
      : tables_(tables), lanes_(hn::Lanes(TransformFloats())), memory_(2 * (tables.size() + 1) * lanes_) {}

  // Uses up the sequence.
  void of(Sequence& sequence) {
    transform(sequence.column(), tables_.size(), tables_);
    disentangle(sequence.column(), tables_, column());
  }
  void back_to(Sequence& sequence) {
    entangle(column(), tables_, sequence.column());
    transform_back(sequence.column(), tables_.size(), tables_);
  }
  void multiply(const Spectrum& other) {
    for (std::size_t k = 0; k <= tables_.size(); ++k) column().set(k, column()[k] * other.column()[k]);
  }
  void add_product(const Spectrum& a, const Spectrum& b) {
    for (std::size_t k = 0; k <= tables_.size(); ++k) column().set(k, column()[k] + a.column()[k] * b.column()[k]);
  }
  void clear() { std::fill_n(memory_.data(), 2 * (tables_.size() + 1) * lanes_, 0.0F); }

 private:
  // Reading through a const spectrum is fine: a column is a view.
  ComplexColumn column() const { return {const_cast<float*>(memory_.data()), lanes_}; }

  const TransformTables& tables_;
  std::size_t lanes_;
  AlignedFloats memory_;
};

// A circle of L + taps - 1 steps or more: nothing wraps into what is read from it.
const TransformTables& tables_for(std::size_t L, std::size_t taps) {
  return transform_tables(std::max<std::size_t>(1, std::bit_ceil(L + taps - 1) / 2));
}

}  // namespace

void transformed_conv_simd(const LongConvArguments& a) {
  const auto [B, L, K, C] = a.sizes;
  const std::size_t lanes = hn::Lanes(TransformFloats()), taps = std::min(K, L);
  const TransformTables& tables = tables_for(L, taps);
  Sequence sequence(tables);
  Spectrum kernel(tables), product(tables);
  for (std::size_t c = 0; c < C; c += lanes) {
    const Lanes channels{C, c, std::min(lanes, C - c)};
    sequence.read(a.kernel, taps, channels, false);
    kernel.of(sequence);
    for (std::size_t b = 0; b < B; ++b) {
      sequence.read(a.x + b * L * C, L, channels, false);
      product.of(sequence);
      product.multiply(kernel);
      product.back_to(sequence);
      sequence.write(a.y + b * L * C, L, channels, false);
    }
  }
}

// With dy turned round in time: dx turned round is kernel * dy, and dk[j] is step L-1-j of x * dy, whose spectra add
// up over the batch before one transform back.
void transformed_conv_backward_simd(const LongConvBackwardArguments& a) {
  const auto [B, L, K, C] = a.sizes;
  const std::size_t lanes = hn::Lanes(TransformFloats()), taps = std::min(K, L);
  const TransformTables& tables = tables_for(L, taps);
  Sequence sequence(tables);
  Spectrum kernel(tables), x(tables), dy(tables), dk(tables);
  for (std::size_t c = 0; c < C; c += lanes) {
    const Lanes channels{C, c, std::min(lanes, C - c)};
    sequence.read(a.kernel, taps, channels, false);
    kernel.of(sequence);
    dk.clear();
    for (std::size_t b = 0; b < B; ++b) {
      sequence.read(a.dy + b * L * C, L, channels, true);
      dy.of(sequence);
      if (a.dk) {
        sequence.read(a.x + b * L * C, L, channels, false);
        x.of(sequence);
        dk.add_product(x, dy);
      }
      if (a.dx) {
        dy.multiply(kernel);
        dy.back_to(sequence);
        sequence.write(a.dx + b * L * C, L, channels, true);
      }
    }
    if (!a.dk) continue;
    dk.back_to(sequence);
    for (std::size_t j = 0; j < taps; ++j)
      std::memcpy(a.dk + j * C + c, sequence.row(L - 1 - j), channels.count * sizeof(float));
  }
  if (a.dk) std::fill(a.dk + taps * C, a.dk + K * C, 0.0F);
}

}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(transformed_conv_simd);
HWY_EXPORT(transformed_conv_backward_simd);

void transformed_conv(const LongConvArguments& arguments) { HWY_DYNAMIC_DISPATCH(transformed_conv_simd)(arguments); }

void transformed_conv_backward(const LongConvBackwardArguments& arguments) {
  HWY_DYNAMIC_DISPATCH(transformed_conv_backward_simd)(arguments);
}

}  // namespace mneme::kernels
#endif
