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

#include "kernels/attention/causal_attention.h"
#include "kernels/dense/matmul-inl.h"
#include "kernels/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The queries of one sequence: rows [begin, end) of q.
struct Queries {
  std::size_t begin, end;
  const std::int64_t* positions;  // nullptr: all positions
  std::size_t start;              // the sequence's first index in [B * L]

  // Tokens that row i may see.
  std::size_t past(std::size_t i) const { return (positions ? static_cast<std::size_t>(positions[i]) : i) - start + 1; }
};

// The queries of the sequence after `last`.
inline Queries next_queries(const CausalAttentionInput& in, const Queries& last) {
  const std::size_t start = last.start + in.L;
  if (!in.positions) return {start, start + in.L, nullptr, start};
  std::size_t end = last.end;
  while (end < in.R && static_cast<std::size_t>(in.positions[end]) < start + in.L) ++end;
  return {last.end, end, in.positions, start};
}

// Calls visit(its queries) for each sequence.
template <class Visit>
void for_each_sequence(const CausalAttentionInput& in, Visit visit) {
  Queries queries{0, 0, in.positions, std::size_t{0} - in.L};
  for (std::size_t b = 0; b < in.B; ++b) visit(queries = next_queries(in, queries));
}

// Queries of a block: few enough that scores stay in the first-level cache at the usual lengths, enough for the
// multiplications to be efficient. Half of the last block's square is wasted work.
inline constexpr std::size_t kBlock = 32;

// Consecutive rows of a sequence's queries, how much of the past the last of them sees, and what each of them does.
// Scores are [columns, width], a query a lane: sums over the past are sums of vectors, and keys and values are the left
// matrices of the products, which are read where they are. Lanes after the last query see
// everything; padding lanes stay finite and are never read.
struct Block {
  std::size_t first, rows, columns, width;
  HWY_ALIGN std::int32_t past[kBlock];

  Block(const Queries& queries, std::size_t begin)
      : first(begin),
        rows(std::min(kBlock, queries.end - begin)),
        columns(queries.past(first + rows - 1)),
        width(whole_vectors(rows)) {
    for (std::size_t r = 0; r < kBlock; ++r)
      past[r] = static_cast<std::int32_t>(r < rows ? queries.past(first + r) : columns);
  }
};

// Where all queries of a vector see a token.
struct AllSee {};
template <class V>
HWY_INLINE V seen_or(AllSee, V x, V) {
  return x;
}
template <class M, class V>
HWY_INLINE V seen_or(M mask, V x, V otherwise) {
  return hwy::HWY_NAMESPACE::IfThenElse(mask, x, otherwise);
}

// Calls visit(u, mask) for a vector of queries and every u that the block sees: first those that all of them see, then
// those where the mask says which of them do.
template <class Visit>
HWY_INLINE void for_past(const Block& block, std::size_t lane, Visit visit) {
  const MatmulFloats d;
  const hn::RebindToSigned<MatmulFloats> integers;
  const auto past = hn::LoadU(integers, block.past + lane);
  // Pasts ascend.
  const auto whole = std::min(static_cast<std::size_t>(block.past[lane]), block.columns);
  for (std::size_t u = 0; u < whole; ++u) visit(u, AllSee());
  for (std::size_t u = whole; u < block.columns; ++u)
    visit(u, hn::RebindMask(d, hn::Gt(past, hn::Set(integers, static_cast<std::int32_t>(u)))));
}

// Scores of a block -> probabilities; what lies after a query's own token becomes zero.
inline void softmax_block(float* scores, const Block& block, float* lse, std::size_t lse_stride) {
  const MatmulFloats d;
  const auto lowest = hn::Set(d, std::numeric_limits<float>::lowest());
  for (std::size_t lane = 0; lane < block.width; lane += kMatmulLanes) {
    float* z = scores + lane;
    auto maximum = lowest, sum = hn::Zero(d);
    for_past(block, lane, [&](std::size_t u, auto mask) {
      maximum = hn::Max(maximum, seen_or(mask, hn::Load(d, z + u * block.width), lowest));
    });
    for_past(block, lane, [&](std::size_t u, auto mask) {
      const auto e = decay_exp(d, hn::Sub(hn::Load(d, z + u * block.width), maximum));
      const auto p = seen_or(mask, e, hn::Zero(d));
      sum = hn::Add(sum, p);
      hn::Store(p, d, z + u * block.width);
    });
    const auto factor = hn::Div(hn::Set(d, 1.0F), sum);
    for (std::size_t u = 0; u < block.columns; ++u) {
      float* at = z + u * block.width;
      hn::Store(hn::Mul(hn::Load(d, at), factor), d, at);
    }
    HWY_ALIGN float logarithms[kMatmulLanes];
    hn::Store(hn::Add(maximum, hn::Log(d, sum)), d, logarithms);
    for (std::size_t r = lane; r < std::min(lane + kMatmulLanes, block.rows); ++r)
      lse[(block.first + r) * lse_stride] = logarithms[r - lane];
  }
}

// The same from the known log-sums, and the gradient of the scores in place of that of the probabilities.
// A query's part of that gradient sums to zero. The mean that makes it so is taken over the probabilities as they came
// out here, which do not sum to one exactly: what a key shared by all tokens receives is then rounding alone.
inline void gradient_block(float* scores, float* dp, const Block& block, const float* lse, std::size_t lse_stride,
                           float scale) {
  const MatmulFloats d;
  for (std::size_t lane = 0; lane < block.width; lane += kMatmulLanes) {
    HWY_ALIGN float logarithms[kMatmulLanes] = {};
    for (std::size_t r = lane; r < std::min(lane + kMatmulLanes, block.rows); ++r)
      logarithms[r - lane] = lse[(block.first + r) * lse_stride];
    const auto shift = hn::Load(d, logarithms);
    float *z = scores + lane, *gradient = dp + lane;
    auto sum = hn::Zero(d), dot = hn::Zero(d);
    for_past(block, lane, [&](std::size_t u, auto mask) {
      const std::size_t at = u * block.width;
      const auto p = seen_or(mask, decay_exp(d, hn::Sub(hn::Load(d, z + at), shift)), hn::Zero(d));
      sum = hn::Add(sum, p);
      dot = hn::MulAdd(p, hn::Load(d, gradient + at), dot);
      hn::Store(p, d, z + at);
    });
    const auto mean = hn::Div(dot, sum), by = hn::Set(d, scale);
    for (std::size_t u = 0; u < block.columns; ++u) {
      const std::size_t at = u * block.width;
      const auto centred = hn::Sub(hn::Load(d, gradient + at), mean);
      hn::Store(hn::Mul(hn::Mul(hn::Load(d, z + at), by), centred), d, gradient + at);
    }
  }
}

inline void clear_rows(float* x, std::size_t count, std::size_t stride, std::size_t columns) {
  for (std::size_t r = 0; r < count; ++r) std::fill_n(x + r * stride, columns, 0.0F);
}

inline void attention_forward(const CausalAttentionInput& in, float* out, const CausalAttentionSaved& saved) {
  const std::size_t D = in.H * in.d;
  const AlignedFloats scores(kBlock * in.L, kUnset);
  Panels queries_across(in.d, kBlock), values(in.L, in.d);
  for_each_sequence(in, [&](const Queries& queries) {
    if (queries.begin == queries.end) return;
    for (std::size_t h = 0; h < in.H; ++h) {
      const float* k = in.k.data + queries.start * in.k.stride + h * in.d;
      values.pack_rows(in.v.data + queries.start * in.v.stride + h * in.d, in.v.stride, queries.past(queries.end - 1));
      for (std::size_t first = queries.begin; first < queries.end; first += kBlock) {
        const Block block(queries, first);
        queries_across.pack_transposed_columns(in.q.data + first * in.q.stride + h * in.d, in.q.stride, block.rows);
        queries_across.scale(in.scale);
        multiply({k, in.k.stride, 1}, block.columns, queries_across, block.width, scores, block.width);
        softmax_block(scores, block, saved.lse + h, in.H);
        multiply({scores, 1, block.width}, block.rows, {values, block.columns, in.d}, out + first * D + h * in.d, D);
      }
    }
  });
}

inline void attention_backward(const CausalAttentionInput& in, const CausalAttentionSaved& saved, const float* dout,
                               const CausalAttentionGradients& gradients) {
  const std::size_t D = in.H * in.d;
  const AlignedFloats scores(kBlock * in.L, kUnset), dp(kBlock * in.L, kUnset);
  Panels queries_across(in.d, kBlock), dout_across(in.d, kBlock), keys(in.L, in.d), query_rows(kBlock, in.d),
      dout_rows(kBlock, in.d);
  for_each_sequence(in, [&](const Queries& queries) {
    const std::size_t seen = queries.begin == queries.end ? 0 : queries.past(queries.end - 1);
    for (std::size_t h = 0; h < in.H; ++h) {
      const float *k = in.k.data + queries.start * in.k.stride + h * in.d,
                  *v = in.v.data + queries.start * in.v.stride + h * in.d;
      const std::size_t to = queries.start * gradients.stride_kv + h * in.d;
      float *dk = gradients.dk + to, *dv = gradients.dv + to;
      clear_rows(dk + seen * gradients.stride_kv, in.L - seen, gradients.stride_kv, in.d);
      clear_rows(dv + seen * gradients.stride_kv, in.L - seen, gradients.stride_kv, in.d);
      if (seen == 0) continue;
      keys.pack_rows(k, in.k.stride, seen);
      // From the last block to the first, so that each key's row is written before it is added to.
      for (std::size_t number = (queries.end - queries.begin + kBlock - 1) / kBlock; number-- > 0;) {
        const Block block(queries, queries.begin + number * kBlock);
        const float *q = in.q.data + block.first * in.q.stride + h * in.d, *dy = dout + block.first * D + h * in.d;
        const bool add = block.first + block.rows != queries.end;
        queries_across.pack_transposed_columns(q, in.q.stride, block.rows);
        queries_across.scale(in.scale);
        multiply({k, in.k.stride, 1}, block.columns, queries_across, block.width, scores, block.width);
        dout_across.pack_transposed_columns(dy, D, block.rows);
        multiply({v, in.v.stride, 1}, block.columns, dout_across, block.width, dp, block.width);
        gradient_block(scores, dp, block, saved.lse + h, in.H, in.scale);
        dout_rows.pack_rows(dy, D, block.rows);
        multiply({scores, block.width, 1}, block.columns, {dout_rows, block.rows, in.d}, dv, gradients.stride_kv, add);
        query_rows.pack_rows(q, in.q.stride, block.rows);
        multiply({dp, block.width, 1}, block.columns, {query_rows, block.rows, in.d}, dk, gradients.stride_kv, add);
        multiply({dp, 1, block.width}, block.rows, {keys, block.columns, in.d},
                 gradients.dq + block.first * gradients.stride_q + h * in.d, gradients.stride_q);
      }
    }
  });
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
