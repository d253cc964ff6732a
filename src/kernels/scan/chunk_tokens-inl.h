// A chunk of a scan (chunked_scan.h): its tokens, its selected queries, and its decays. Included once per SIMD target.
#if defined(MNEME_KERNELS_CHUNK_TOKENS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MNEME_KERNELS_CHUNK_TOKENS_INL
#undef MNEME_KERNELS_CHUNK_TOKENS_INL
#else
#define MNEME_KERNELS_CHUNK_TOKENS_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/dense/matmul-inl.h"
#include "kernels/scan/gated_scan.h"
#include "kernels/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::size_t kChunk = kGatedScanChunk;

// The queries of a chunk whose outputs are needed.
struct Selected {
  std::size_t rows = 0, first_row = 0;  // rows of o
  std::size_t position[kChunk] = {};    // their tokens in the chunk
};

// The decays of one head in one chunk, and the weights of its values. Row r is the r-th query that is selected, of
// token t; s is a token.
struct ChunkDecay {
  float whole = 1;                                  // exp(l[end])
  alignas(64) float since_start[kChunk] = {};       // [r] exp(l[t])
  alignas(64) float to_end[kChunk] = {};            // [s] exp(l[end] - l[s])
  alignas(64) float weight[kChunk] = {};            // w[s]
  alignas(64) float weighted_to_end[kChunk] = {};   // to_end times weight
  alignas(64) float between[kChunk * kChunk] = {};  // [r, s] exp(l[t] - l[s]) for s <= t, else 0

  void load(const GatedScanInput& in, std::size_t h, std::size_t first, std::size_t steps, const Selected& selected) {
    const MatmulFloats d;
    alignas(64) float l[kChunk] = {}, since[kChunk];
    float sum = 0;
    for (std::size_t t = 0; t < steps; ++t) {
      sum += in.decay == Decay::none ? 0.0F : in.decay == Decay::constant ? in.g.data[h] : in.g[first + t][h];
      l[t] = sum;
      weight[t] = in.weight(first + t, h);
    }
    for (std::size_t t = 0; t < kChunk; t += kMatmulLanes) {
      const auto here = hn::Load(d, l + t);
      hn::Store(decay_exp(d, here), d, since + t);
      hn::Store(decay_exp(d, hn::Sub(hn::Set(d, sum), here)), d, to_end + t);
      hn::Store(hn::Mul(hn::Load(d, to_end + t), hn::Load(d, weight + t)), d, weighted_to_end + t);
    }
    whole = since[steps - 1];
    for (std::size_t r = 0; r < selected.rows; ++r) {
      const std::size_t t = selected.position[r];
      since_start[r] = since[t];
      for (std::size_t s = 0; s < kChunk; s += kMatmulLanes) {
        auto factor = hn::Zero(d);
        if (s <= t) {
          factor = decay_exp(d, hn::Sub(hn::Set(d, l[t]), hn::Load(d, l + s)));
          if (t + 1 - s < kMatmulLanes) factor = hn::IfThenElseZero(hn::FirstN(d, t + 1 - s), factor);
        }
        hn::Store(factor, d, between + r * kChunk + s);
      }
    }
  }
};

// Where the tokens of a chunk are.
struct Tokens {
  const GatedScanInput& in;
  std::size_t first, steps;
  Selected selected;

  const float* keys(std::size_t group) const { return in.k[first] + group * in.K; }
  const float* values(std::size_t h) const { return in.v[first] + h * in.V; }
  std::size_t output(std::size_t h) const { return (selected.first_row * in.H + h) * in.V; }  // in o
  std::size_t value_place(std::size_t h) const { return (first * in.H + h) * in.V; }          // in dv
  std::size_t key_place(std::size_t group) const { return (first * in.G + group) * in.K; }    // in dq and dk
};

inline Tokens tokens_of(const GatedScanInput& in, std::size_t b, std::size_t chunk) {
  const std::size_t first = b * in.L + chunk * kChunk, steps = std::min(kChunk, in.L - chunk * kChunk);
  Tokens tokens{in, first, steps, {steps, first, {}}};
  if (in.positions) {
    const auto end = in.positions + in.R;
    const auto begin = std::lower_bound(in.positions, end, static_cast<std::int64_t>(first));
    tokens.selected.first_row = static_cast<std::size_t>(begin - in.positions);
    tokens.selected.rows =
        static_cast<std::size_t>(std::lower_bound(begin, end, static_cast<std::int64_t>(first + steps)) - begin);
  }
  for (std::size_t r = 0; r < tokens.selected.rows; ++r)
    tokens.selected.position[r] =
        in.positions ? static_cast<std::size_t>(in.positions[tokens.selected.first_row + r]) - first : r;
  return tokens;
}

// The selected queries of a group: in place, or copied one after the other.
class SelectedQueries {
 public:
  explicit SelectedQueries(const GatedScanInput& in) : copies_(in.positions ? kChunk * in.K : 0, kUnset) {}

  void load(const Tokens& tokens, std::size_t group) {
    const GatedScanInput& in = tokens.in;
    data = in.q[tokens.first] + group * in.K;
    stride = in.q.stride;
    if (!in.positions) return;
    for (std::size_t r = 0; r < tokens.selected.rows; ++r)
      std::copy_n(data + tokens.selected.position[r] * stride, in.K, copies_ + r * in.K);
    data = copies_;
    stride = in.K;
  }

  const float* data = nullptr;
  std::size_t stride = 0;

 private:
  AlignedFloats copies_;
};

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
