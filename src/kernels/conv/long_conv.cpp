#include "kernels/conv/long_conv.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/conv/transformed_conv.h"
#include "kernels/simd/aligned_floats.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/long_conv.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;

// A tile of kOutputs steps by kTaps taps lives in registers: 32 multiply-adds for 15 loads.
constexpr std::size_t kOutputs = 8, kTaps = 4, kPadding = kOutputs + kTaps;

std::size_t rounded_up(std::size_t n, std::size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// One vector of channels of a sequence, gathered so that steps are neighbours in memory (rows of a wide tensor
// fall on the same few cache lines), with zeros before the first step and after the last.
class Column {
 public:
  explicit Column(std::size_t length)
      : lanes_(hn::Lanes(Floats())),
        rows_(kPadding + rounded_up(length, kOutputs)),
        length_(length),
        memory_(rows_ * lanes_) {}
  void clear() { std::fill_n(memory_.data(), rows_ * lanes_, 0.0F); }
  float* step(std::size_t t) { return memory_ + (kPadding + t) * lanes_; }
  const float* step(std::size_t t) const { return memory_ + (kPadding + t) * lanes_; }

  // Channels [first, first + count) of `source` [L, C], in order or from the end.
  void gather(const float* source, std::size_t C, std::size_t first, std::size_t count, bool reversed) {
    for (std::size_t t = 0; t < length_; ++t)
      std::memcpy(step(reversed ? length_ - 1 - t : t), source + t * C + first, count * sizeof(float));
  }
  void scatter(float* target, std::size_t C, std::size_t first, std::size_t count, bool reversed) const {
    for (std::size_t t = 0; t < length_; ++t)
      std::memcpy(target + t * C + first, step(reversed ? length_ - 1 - t : t), count * sizeof(float));
  }

 private:
  std::size_t lanes_, rows_, length_;
  AlignedFloats memory_;
};

// out[t] (+)= sum_{j <= t, j < taps} kernel[j] * x[t-j] for the steps from `from` (a multiple of kOutputs) to
// the end. The zeros before x serve the taps that reach back too far, those after the kernel serve
// the rounding of `taps`.
void convolve(const Column& x, const Column& kernel, std::size_t from, std::size_t length, std::size_t taps,
              bool accumulate, Column& out) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t t = from; t < length; t += kOutputs) {
    float* y = out.step(t);
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    if (accumulate) {
      s0 = hn::Load(d, y), s1 = hn::Load(d, y + lanes);
      s2 = hn::Load(d, y + 2 * lanes), s3 = hn::Load(d, y + 3 * lanes);
      s4 = hn::Load(d, y + 4 * lanes), s5 = hn::Load(d, y + 5 * lanes);
      s6 = hn::Load(d, y + 6 * lanes), s7 = hn::Load(d, y + 7 * lanes);
    }
    const std::size_t last = std::min(taps, t + kOutputs);
    const float* k = kernel.step(0);
    const float* in = x.step(t);  // the newest step that tap j sees for output 0
    for (std::size_t j = 0; j < last; j += kTaps, k += kTaps * lanes, in -= kTaps * lanes) {
      const auto k0 = hn::Load(d, k), k1 = hn::Load(d, k + lanes);
      const auto k2 = hn::Load(d, k + 2 * lanes), k3 = hn::Load(d, k + 3 * lanes);
      // v is x[t - j + i] for i = -3..7; output r takes it with tap r - i.
      auto v = hn::Load(d, in - 3 * lanes);
      s0 = hn::MulAdd(k3, v, s0);
      v = hn::Load(d, in - 2 * lanes);
      s0 = hn::MulAdd(k2, v, s0), s1 = hn::MulAdd(k3, v, s1);
      v = hn::Load(d, in - lanes);
      s0 = hn::MulAdd(k1, v, s0), s1 = hn::MulAdd(k2, v, s1), s2 = hn::MulAdd(k3, v, s2);
      v = hn::Load(d, in);
      s0 = hn::MulAdd(k0, v, s0), s1 = hn::MulAdd(k1, v, s1), s2 = hn::MulAdd(k2, v, s2), s3 = hn::MulAdd(k3, v, s3);
      v = hn::Load(d, in + lanes);
      s1 = hn::MulAdd(k0, v, s1), s2 = hn::MulAdd(k1, v, s2), s3 = hn::MulAdd(k2, v, s3), s4 = hn::MulAdd(k3, v, s4);
      v = hn::Load(d, in + 2 * lanes);
      s2 = hn::MulAdd(k0, v, s2), s3 = hn::MulAdd(k1, v, s3), s4 = hn::MulAdd(k2, v, s4), s5 = hn::MulAdd(k3, v, s5);
      v = hn::Load(d, in + 3 * lanes);
      s3 = hn::MulAdd(k0, v, s3), s4 = hn::MulAdd(k1, v, s4), s5 = hn::MulAdd(k2, v, s5), s6 = hn::MulAdd(k3, v, s6);
      v = hn::Load(d, in + 4 * lanes);
      s4 = hn::MulAdd(k0, v, s4), s5 = hn::MulAdd(k1, v, s5), s6 = hn::MulAdd(k2, v, s6), s7 = hn::MulAdd(k3, v, s7);
      v = hn::Load(d, in + 5 * lanes);
      s5 = hn::MulAdd(k0, v, s5), s6 = hn::MulAdd(k1, v, s6), s7 = hn::MulAdd(k2, v, s7);
      v = hn::Load(d, in + 6 * lanes);
      s6 = hn::MulAdd(k0, v, s6), s7 = hn::MulAdd(k1, v, s7);
      v = hn::Load(d, in + 7 * lanes);
      s7 = hn::MulAdd(k0, v, s7);
    }
    hn::Store(s0, d, y), hn::Store(s1, d, y + lanes);
    hn::Store(s2, d, y + 2 * lanes), hn::Store(s3, d, y + 3 * lanes);
    hn::Store(s4, d, y + 4 * lanes), hn::Store(s5, d, y + 5 * lanes);
    hn::Store(s6, d, y + 6 * lanes), hn::Store(s7, d, y + 7 * lanes);
  }
}

void long_conv_simd(const LongConvInput& in, float* out) {
  const auto [B, L, K, C] = in.shape;
  const std::size_t lanes = hn::Lanes(Floats()), taps = std::min(K, L);
  Column x(L), y(L), kernel(taps);
  for (std::size_t c = 0; c < C; c += lanes) {
    const std::size_t count = std::min(lanes, C - c);
    kernel.gather(in.kernel, C, c, count, false);
    for (std::size_t b = 0; b < B; ++b) {
      x.gather(in.x + b * L * C, C, c, count, false);
      convolve(x, kernel, 0, L, taps, false, y);
      y.scatter(out + b * L * C, C, c, count, false);
    }
  }
}

// Both gradients are convolutions with dy turned round in time: dx turned round is kernel * dy turned round, and
// dk[j] is step L-1-j of x * dy turned round.
void long_conv_backward_simd(const LongConvInput& in, const float* dout, const LongConvGradients& gradients) {
  const auto [B, L, K, C] = in.shape;
  const std::size_t lanes = hn::Lanes(Floats()), taps = std::min(K, L);
  const std::size_t from = (L - taps) / kOutputs * kOutputs;
  Column x(L), dy(L), dx(L), dk(L), kernel(taps);
  for (std::size_t c = 0; c < C; c += lanes) {
    const std::size_t count = std::min(lanes, C - c);
    kernel.gather(in.kernel, C, c, count, false);
    dk.clear();
    for (std::size_t b = 0; b < B; ++b) {
      dy.gather(dout + b * L * C, C, c, count, true);
      if (gradients.dx) {
        convolve(dy, kernel, 0, L, taps, false, dx);
        dx.scatter(gradients.dx + b * L * C, C, c, count, true);
      }
      if (gradients.dkernel) {
        x.gather(in.x + b * L * C, C, c, count, false);
        convolve(x, dy, from, L, L, true, dk);
      }
    }
    if (gradients.dkernel)
      for (std::size_t j = 0; j < taps; ++j)
        std::memcpy(gradients.dkernel + j * C + c, dk.step(L - 1 - j), count * sizeof(float));
  }
  if (gradients.dkernel) std::fill(gradients.dkernel + taps * C, gradients.dkernel + K * C, 0.0F);
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(long_conv_simd);
HWY_EXPORT(long_conv_backward_simd);

bool long_conv_is_direct(const LongConvShape& shape) {
  // A step of a transform costs about as much as this many multiply-adds; measured at 128 channels with AVX-512, in
  // batches: a lone sequence, half of a pair, would be better off with direct sums to twice the length. The batch has
  // no say, so that an example's last bits do not depend on it.
  constexpr std::size_t kTransformStep = 12;
  const std::size_t taps = std::min(shape.K, shape.L), circle = std::bit_ceil(2 * shape.L);
  return shape.L * taps <= kTransformStep * circle * static_cast<std::size_t>(std::bit_width(circle) - 1);
}

void long_conv(const LongConvInput& in, float* out) {
  if (use_reference()) return long_conv_reference(in, out);
  if (!long_conv_is_direct(in.shape)) return transformed_conv(in, out);
  HWY_DYNAMIC_DISPATCH(long_conv_simd)(in, out);
}

void long_conv_backward(const LongConvInput& in, const float* dout, const LongConvGradients& gradients) {
  if (use_reference()) return long_conv_backward_reference(in, dout, gradients);
  if (!long_conv_is_direct(in.shape)) return transformed_conv_backward(in, dout, gradients);
  HWY_DYNAMIC_DISPATCH(long_conv_backward_simd)(in, dout, gradients);
}

}  // namespace mneme::kernels
#endif
