// Causal attention by the products of matmul-inl.h, for kernels that have it among other things. Included once per SIMD
// target.
#if defined(MNEME_KERNELS_CAUSAL_ATTENTION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MNEME_KERNELS_CAUSAL_ATTENTION_INL
#undef MNEME_KERNELS_CAUSAL_ATTENTION_INL
#else
#define MNEME_KERNELS_CAUSAL_ATTENTION_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/causal_attention.h"
#include "kernels/matmul-inl.h"
#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Rows of scores are filled up to whole vectors. What lies after `count`, a row's own token, may be anything before the
// softmax and is zero after it.

// z[0, count) <- exp(z - shift), z[count, padded) <- 0; returns the sum. shift is at least the largest z, but for
// rounding.
inline float exponentials(float* z, std::size_t count, std::size_t padded, float shift) {
  const MatmulFloats d;
  const auto by = hn::Set(d, shift);
  auto sum = hn::Zero(d);
  std::size_t u = 0;
  for (; u < count; u += kMatmulLanes) {
    auto e = decay_exp(d, hn::Sub(hn::Load(d, z + u), by));
    if (count - u < kMatmulLanes) e = hn::IfThenElseZero(hn::FirstN(d, count - u), e);
    sum = hn::Add(sum, e);
    hn::Store(e, d, z + u);
  }
  std::fill(z + u, z + padded, 0.0F);
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

inline float largest(const float* z, std::size_t count) {
  const MatmulFloats d;
  const auto lowest = hn::Set(d, std::numeric_limits<float>::lowest());
  auto maximum = lowest;
  for (std::size_t u = 0; u < count; u += kMatmulLanes) {
    const auto x = hn::Load(d, z + u);
    maximum = hn::Max(maximum, count - u < kMatmulLanes ? hn::IfThenElse(hn::FirstN(d, count - u), x, lowest) : x);
  }
  return hn::GetLane(hn::MaxOfLanes(d, maximum));
}

inline void multiply(float* z, std::size_t count, float factor) {
  const MatmulFloats d;
  for (std::size_t u = 0; u < count; u += kMatmulLanes)
    hn::Store(hn::Mul(hn::Load(d, z + u), hn::Set(d, factor)), d, z + u);
}

// p is zero from `count` on.
inline float dot(const float* p, const float* b, std::size_t count) {
  const MatmulFloats d;
  auto sum = hn::Zero(d);
  for (std::size_t u = 0; u < count; u += kMatmulLanes) sum = hn::MulAdd(hn::Load(d, p + u), hn::Load(d, b + u), sum);
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// dp <- scale * p * (dp - delta)
inline void score_gradient(const float* p, float* dp, std::size_t padded, float delta, float scale) {
  const MatmulFloats d;
  for (std::size_t u = 0; u < padded; u += kMatmulLanes) {
    const auto centred = hn::Sub(hn::Load(d, dp + u), hn::Set(d, delta));
    hn::Store(hn::Mul(hn::Mul(hn::Load(d, p + u), hn::Set(d, scale)), centred), d, dp + u);
  }
}

// The queries of one sequence: rows [begin, end) of q.
struct Queries {
  std::size_t begin, end;
  const std::int64_t* asked;  // nullptr: all positions
  std::size_t start;          // the sequence's place in [B * L]

  // Tokens that row i may see.
  std::size_t past(std::size_t i) const { return (asked ? static_cast<std::size_t>(asked[i]) : i) - start + 1; }
};

// The queries of the sequence behind `last`.
inline Queries next_queries(const AttentionInput& in, const Queries& last) {
  const std::size_t start = last.start + in.L;
  if (!in.asked) return {start, start + in.L, nullptr, start};
  std::size_t end = last.end;
  while (end < in.R && static_cast<std::size_t>(in.asked[end]) < start + in.L) ++end;
  return {last.end, end, in.asked, start};
}

// Calls visit(its queries) for each sequence.
template <class Visit>
void for_each_sequence(const AttentionInput& in, Visit visit) {
  Queries queries{0, 0, in.asked, std::size_t{0} - in.L};
  for (std::size_t b = 0; b < in.B; ++b) visit(queries = next_queries(in, queries));
}

// Rows of a block: few enough that scores stay in the first-level cache at the usual lengths, enough for the
// multiplications to be efficient. Half of the last block's square is wasted work.
inline constexpr std::size_t kBlock = 32;

// Consecutive rows of a sequence's queries, and how much of the past the last of them sees.
struct Block {
  std::size_t first, rows, columns, width;  // width: columns, filled up to whole vectors
  Block(const Queries& queries, std::size_t begin)
      : first(begin),
        rows(std::min(kBlock, queries.end - begin)),
        columns(queries.past(first + rows - 1)),
        width(whole_vectors(columns)) {}
};

// Scores of a block -> probabilities; what lies after a row's own token becomes zero.
inline void softmax_block(float* scores, const Block& block, const Queries& queries, float* lse,
                          std::size_t lse_stride) {
  for (std::size_t r = 0; r < block.rows; ++r) {
    float* z = scores + r * block.width;
    const std::size_t past = queries.past(block.first + r);
    const float maximum = largest(z, past);
    const float sum = exponentials(z, past, block.width, maximum);
    multiply(z, past, 1.0F / sum);
    lse[(block.first + r) * lse_stride] = maximum + std::log(sum);
  }
}

// The same from the known log-sums, and the gradient of the scores in place of that of the probabilities.
// A row of that gradient sums to zero. The mean that makes it so is taken over the probabilities as they came
// out here, which do not sum to one exactly: what a key shared by all tokens receives is then rounding alone.
inline void gradient_block(float* scores, float* dp, const Block& block, const Queries& queries, const float* lse,
                           std::size_t lse_stride, float scale) {
  for (std::size_t r = 0; r < block.rows; ++r) {
    const std::size_t past = queries.past(block.first + r);
    float *p = scores + r * block.width, *gradient = dp + r * block.width;
    const float sum = exponentials(p, past, block.width, lse[(block.first + r) * lse_stride]);
    score_gradient(p, gradient, block.width, dot(p, gradient, past) / sum, scale);
  }
}

// The first K rows and N columns of b instead of all.
struct Section {
  const Panels& b;
  std::size_t K, N;
};

inline void multiply(Left a, std::size_t M, const Section& section, float* c, std::size_t stride, bool add = false) {
  for (std::size_t n = 0; n < section.N; n += kPanelColumns)
    multiply_panel(a, M, section.b.panel(n), section.K, c + n, stride, add, section.N - n);
}

inline void clear_rows(float* x, std::size_t count, std::size_t stride, std::size_t columns) {
  for (std::size_t r = 0; r < count; ++r) std::fill_n(x + r * stride, columns, 0.0F);
}

inline void attention_forward(const AttentionInput& in, float* out, float* lse) {
  const std::size_t D = in.H * in.d;
  const auto scores = aligned_floats(kBlock * whole_vectors(in.L));
  Panels keys(in.d, in.L), values(in.L, in.d);
  for_each_sequence(in, [&](const Queries& queries) {
    if (queries.begin == queries.end) return;
    for (std::size_t h = 0; h < in.H; ++h) {
      keys.pack_transposed(in.k.data + queries.start * in.k.stride + h * in.d, in.k.stride);
      keys.scale(in.scale);
      values.pack(in.v.data + queries.start * in.v.stride + h * in.d, in.v.stride);
      for (std::size_t first = queries.begin; first < queries.end; first += kBlock) {
        const Block block(queries, first);
        multiply({in.q.data + first * in.q.stride + h * in.d, in.q.stride, 1}, block.rows, {keys, in.d, block.width},
                 scores.get(), block.width);
        softmax_block(scores.get(), block, queries, lse + h, in.H);
        multiply({scores.get(), block.width, 1}, block.rows, {values, block.columns, in.d}, out + first * D + h * in.d,
                 D);
      }
    }
  });
}

inline void attention_backward(const AttentionInput& in, const float* lse, const float* dout,
                               const AttentionGradients& gradients) {
  const std::size_t D = in.H * in.d, scores_size = kBlock * whole_vectors(in.L);
  const auto scores = aligned_floats(scores_size), dp = aligned_floats(scores_size);
  Panels keys(in.d, in.L), values(in.d, in.L), key_rows(in.L, in.d), query_rows(kBlock, in.d), dout_rows(kBlock, in.d);
  for_each_sequence(in, [&](const Queries& queries) {
    const std::size_t seen = queries.begin == queries.end ? 0 : queries.past(queries.end - 1);
    for (std::size_t h = 0; h < in.H; ++h) {
      const float* k = in.k.data + queries.start * in.k.stride + h * in.d;
      const std::size_t to = queries.start * gradients.stride_kv + h * in.d;
      float *dk = gradients.dk + to, *dv = gradients.dv + to;
      clear_rows(dk + seen * gradients.stride_kv, in.L - seen, gradients.stride_kv, in.d);
      clear_rows(dv + seen * gradients.stride_kv, in.L - seen, gradients.stride_kv, in.d);
      if (seen == 0) continue;
      keys.pack_transposed(k, in.k.stride);
      keys.scale(in.scale);
      values.pack_transposed(in.v.data + queries.start * in.v.stride + h * in.d, in.v.stride);
      key_rows.pack(k, in.k.stride);
      // From the last block to the first, so that each key's row is written before it is added to.
      for (std::size_t number = (queries.end - queries.begin + kBlock - 1) / kBlock; number-- > 0;) {
        const Block block(queries, queries.begin + number * kBlock);
        const float *q = in.q.data + block.first * in.q.stride + h * in.d, *dy = dout + block.first * D + h * in.d;
        const bool add = block.first + block.rows != queries.end;
        multiply({q, in.q.stride, 1}, block.rows, {keys, in.d, block.width}, scores.get(), block.width);
        multiply({dy, D, 1}, block.rows, {values, in.d, block.width}, dp.get(), block.width);
        gradient_block(scores.get(), dp.get(), block, queries, lse + h, in.H, in.scale);
        dout_rows.pack_rows(dy, D, block.rows);
        multiply({scores.get(), 1, block.width}, block.columns, {dout_rows, block.rows, in.d}, dv, gradients.stride_kv,
                 add);
        query_rows.pack_rows(q, in.q.stride, block.rows);
        multiply({dp.get(), 1, block.width}, block.columns, {query_rows, block.rows, in.d}, dk, gradients.stride_kv,
                 add);
        multiply({dp.get(), block.width, 1}, block.rows, {key_rows, block.columns, in.d},
                 gradients.dq + block.first * gradients.stride_q + h * in.d, gradients.stride_q);
      }
    }
  });
}

}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
