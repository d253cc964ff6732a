// The sweeps that make up selective_scan: one block of channels (a vector of them), one chunk of tokens, a few states
// at a time, which stay in registers. What belongs to (token, channel) is [kSelectiveScanChunk][lanes] in a ScanBlock.
// Included once per SIMD target.
#if defined(MNEME_KERNELS_SELECTIVE_SCAN_PASSES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MNEME_KERNELS_SELECTIVE_SCAN_PASSES_INL
#undef MNEME_KERNELS_SELECTIVE_SCAN_PASSES_INL
#else
#define MNEME_KERNELS_SELECTIVE_SCAN_PASSES_INL
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "kernels/scan/selective_scan.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using ScanFloats = hn::CappedTag<float, kMaxLanes>;
using ScanVector = hn::Vec<ScanFloats>;

// States of a sweep: theirs, their gradients and what all of them share fill the sixteen registers of AVX2.
inline constexpr std::size_t kScanStates = 4;
// Rates are A log2(e), so decays are powers of two. Smaller ones than 2^kDeepest are zero.
inline constexpr float kDeepest = -125.0F;

struct ScanBlock {
  using Values = float[kSelectiveScanChunk * kMaxLanes];
  std::size_t steps = 0;
  bool deep = false;                             // a decay may be smaller than 2^kDeepest
  alignas(64) Values u, delta, input, y, slope;  // input = delta u; slope = softplus'
  // dy is the gradient of y before the gate; q = sum_n g Bm and s = sum_n g a h A log2(e) are what the gradients of u
  // and delta are made of.
  alignas(64) Values dout, dy, q, s;
};

// Bm and Cm of a chunk, from the first state of a sweep on.
struct ScanSelection {
  Rows Bm, Cm;
};

// 2^(delta rate) for delta rate <= 0, to 2.2e-7; `deep` is needed if it may be below 2^kDeepest.
template <bool deep>
HWY_INLINE ScanVector scan_decay(ScanVector delta, ScanVector rate) {
  const ScanFloats d;
  const hn::RebindToSigned<ScanFloats> integers;
  // Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits.
  const auto magic = hn::Set(d, 12582912.0F), rounded = hn::MulAdd(delta, rate, magic);
  const auto f = hn::MulSub(delta, rate, hn::Sub(rounded, magic));
  // The best polynomial of degree 5 for 2^f on [-1/2, 1/2], its constant made 1: a step of no length decays nothing.
  auto p = hn::MulAdd(hn::Set(d, 1.32764719e-3F), f, hn::Set(d, 9.67554133e-3F));
  p = hn::MulAdd(p, f, hn::Set(d, 5.55071327e-2F));
  p = hn::MulAdd(p, f, hn::Set(d, 2.40221197e-1F));
  p = hn::MulAdd(p, f, hn::Set(d, 6.93146967e-1F));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0F));
  const auto scaled =
      hn::BitCast(d, hn::Add(hn::BitCast(integers, p), hn::ShiftLeft<23>(hn::BitCast(integers, rounded))));
  if constexpr (!deep) return scaled;
  return hn::IfThenZeroElse(hn::Lt(hn::Mul(delta, rate), hn::Set(d, kDeepest)), scaled);
}

// Moves S states on through the chunk and adds what they say to y. h and rates are [S][lanes].
template <std::size_t S, bool deep>
HWY_NOINLINE void scan_forward(ScanBlock& block, const ScanSelection& in, const float* rates, float* h) {
  const ScanFloats d;
  const std::size_t lanes = hn::Lanes(d);
  ScanVector state[S], rate[S];
  HWY_UNROLL(4)
  for (std::size_t n = 0; n < S; ++n) {
    state[n] = hn::Load(d, h + n * lanes);
    rate[n] = hn::Load(d, rates + n * lanes);
  }
  for (std::size_t t = 0, at = 0; t < block.steps; ++t, at += lanes) {
    const float *Bm = in.Bm[t], *Cm = in.Cm[t];
    const auto delta = hn::Load(d, block.delta + at), input = hn::Load(d, block.input + at);
    auto y = hn::Load(d, block.y + at);
    HWY_UNROLL(4)
    for (std::size_t n = 0; n < S; ++n) {
      const auto decayed = hn::Mul(scan_decay<deep>(delta, rate[n]), state[n]);
      state[n] = hn::MulAdd(input, hn::Set(d, Bm[n]), decayed);
      y = hn::MulAdd(state[n], hn::Set(d, Cm[n]), y);
    }
    hn::Store(y, d, block.y + at);
  }
  HWY_UNROLL(4)
  for (std::size_t n = 0; n < S; ++n) hn::Store(state[n], d, h + n * lanes);
}

// What the sweep forward leaves for the one backward: decays and decayed states, [kSelectiveScanChunk][S][lanes].
struct ScanKept {
  static constexpr std::size_t kSize = kSelectiveScanChunk * kScanStates * kMaxLanes;
  alignas(64) float decay[kSize], decayed[kSize];
};

// Sums over channels, still one a lane: [kSelectiveScanChunk][N][lanes], from the first state of a sweep on; tokens
// `stride` floats apart.
struct ScanSums {
  float *dBm, *dCm;
  std::size_t stride;
};

// The same as scan_forward from saved states, wherever they are, keeping what the way back needs; adds to
// the sums of dCm.
template <std::size_t S, bool deep>
HWY_NOINLINE void scan_again(ScanBlock& block, const ScanSelection& in, const float* rates, const float* h,
                             ScanKept& kept, const ScanSums& sums) {
  const ScanFloats d;
  const std::size_t lanes = hn::Lanes(d);
  ScanVector state[S], rate[S];
  HWY_UNROLL(4)
  for (std::size_t n = 0; n < S; ++n) {
    state[n] = hn::LoadU(d, h + n * lanes);
    rate[n] = hn::Load(d, rates + n * lanes);
  }
  for (std::size_t t = 0, at = 0; t < block.steps; ++t, at += lanes) {
    const float *Bm = in.Bm[t], *Cm = in.Cm[t];
    float *decays = kept.decay + at * S, *decayed = kept.decayed + at * S, *dCm = sums.dCm + t * sums.stride;
    const auto delta = hn::Load(d, block.delta + at), input = hn::Load(d, block.input + at),
               dy = hn::Load(d, block.dy + at);
    auto y = hn::Load(d, block.y + at);
    HWY_UNROLL(4)
    for (std::size_t n = 0; n < S; ++n) {
      const auto decay = scan_decay<deep>(delta, rate[n]), rest = hn::Mul(decay, state[n]);
      state[n] = hn::MulAdd(input, hn::Set(d, Bm[n]), rest);
      y = hn::MulAdd(state[n], hn::Set(d, Cm[n]), y);
      hn::Store(decay, d, decays + n * lanes);
      hn::Store(rest, d, decayed + n * lanes);
      hn::Store(hn::MulAdd(dy, state[n], hn::Load(d, dCm + n * lanes)), d, dCm + n * lanes);
    }
    hn::Store(y, d, block.y + at);
  }
}

// From the last token to the first: g, the gradient of the state, is moved back; q, s, dA and the sums of dBm grow.
template <std::size_t S>
HWY_NOINLINE void scan_back(ScanBlock& block, const ScanSelection& in, const float* rates, const ScanKept& kept,
                            float* g, float* dA, const ScanSums& sums) {
  const ScanFloats d;
  const std::size_t lanes = hn::Lanes(d);
  ScanVector gradient[S], of_rate[S];
  HWY_UNROLL(4)
  for (std::size_t n = 0; n < S; ++n) {
    gradient[n] = hn::Load(d, g + n * lanes);
    of_rate[n] = hn::Load(d, dA + n * lanes);
  }
  for (std::size_t t = block.steps; t-- > 0;) {
    const std::size_t at = t * lanes;
    const float *Bm = in.Bm[t], *Cm = in.Cm[t], *decays = kept.decay + at * S, *decayed = kept.decayed + at * S;
    float* dBm = sums.dBm + t * sums.stride;
    const auto delta = hn::Load(d, block.delta + at), input = hn::Load(d, block.input + at),
               dy = hn::Load(d, block.dy + at);
    auto q = hn::Load(d, block.q + at), s = hn::Load(d, block.s + at);
    HWY_UNROLL(4)
    for (std::size_t n = 0; n < S; ++n) {
      const auto of_state = hn::MulAdd(dy, hn::Set(d, Cm[n]), gradient[n]);
      hn::Store(hn::MulAdd(of_state, input, hn::Load(d, dBm + n * lanes)), d, dBm + n * lanes);
      q = hn::MulAdd(of_state, hn::Set(d, Bm[n]), q);
      gradient[n] = hn::Mul(of_state, hn::Load(d, decays + n * lanes));
      const auto of_exponent = hn::Mul(of_state, hn::Load(d, decayed + n * lanes));
      s = hn::MulAdd(of_exponent, hn::Load(d, rates + n * lanes), s);
      of_rate[n] = hn::MulAdd(of_exponent, delta, of_rate[n]);
    }
    hn::Store(q, d, block.q + at);
    hn::Store(s, d, block.s + at);
  }
  HWY_UNROLL(4)
  for (std::size_t n = 0; n < S; ++n) {
    hn::Store(gradient[n], d, g + n * lanes);
    hn::Store(of_rate[n], d, dA + n * lanes);
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
