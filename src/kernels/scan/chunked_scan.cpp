#include "kernels/scan/chunked_scan.h"

#include <algorithm>
#include <memory>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan/chunked_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dense/matmul-inl.h"
#include "kernels/scan/chunk_tokens-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

std::size_t chunks_of(const GatedScanInput& in) { return (in.L + kChunk - 1) / kChunk; }

// Calls visit(vector tag, i) for all of [0, count), a whole vector at a time as long as there is one.
template <class Visit>
HWY_INLINE void for_elements(std::size_t count, Visit visit) {
  const MatmulFloats d;
  const hn::CappedTag<float, 1> one;
  const std::size_t whole = count - count % kMatmulLanes;
  for (std::size_t i = 0; i < whole; i += kMatmulLanes) visit(d, i);
  for (std::size_t i = whole; i < count; ++i) visit(one, i);
}

void scale(const float* x, float by, std::size_t count, float* to) {
  for_elements(count,
               [=](auto d, std::size_t i) { hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, by)), d, to + i); });
}

void multiply_elements(const float* x, const float* y, std::size_t count, float* to) {
  for_elements(
      count, [=](auto d, std::size_t i) { hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, to + i); });
}

void add_elements(const float* x, std::size_t count, float* to) {
  for_elements(
      count, [=](auto d, std::size_t i) { hn::StoreU(hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, to + i)), d, to + i); });
}

// to [rows, columns] <- by[r] * from
void scale_rows(const float* from, std::size_t from_stride, const float* by, std::size_t rows, std::size_t columns,
                float* to, std::size_t stride) {
  for (std::size_t r = 0; r < rows; ++r) scale(from + r * from_stride, by[r], columns, to + r * stride);
}

float dot(const float* a, const float* b, std::size_t count) {
  const MatmulFloats d;
  auto even = hn::Zero(d), odd = hn::Zero(d);
  const std::size_t whole = count - count % (2 * kMatmulLanes);
  for (std::size_t i = 0; i < whole; i += 2 * kMatmulLanes) {
    even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
    odd = hn::MulAdd(hn::LoadU(d, a + i + kMatmulLanes), hn::LoadU(d, b + i + kMatmulLanes), odd);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (std::size_t i = whole; i < count; ++i) total += a[i] * b[i];
  return total;
}

// Rows of scores are kChunk floats apart, whatever the number of tokens; what follows those stays zero.
struct Scores {
  alignas(64) float values[kChunk * kChunk] = {};
};

// q[t] . k[s] for all tokens s of the chunk; also those with s > t.
void score(const Tokens& tokens, std::size_t group, const SelectedQueries& queries, Panels& keys, Scores& to) {
  if (tokens.selected.rows == 0) return;
  keys.pack_transposed(tokens.keys(group), tokens.in.k.stride);
  for (std::size_t s = 0; s < tokens.steps; s += kPanelColumns)
    multiply_panel({queries.data, queries.stride, 1}, tokens.selected.rows, keys.panel(s), tokens.in.K, to.values + s,
                   kChunk, false, std::min(kPanelColumns, whole_vectors(tokens.steps - s)));
}

// --- forward

// What a chunk of `steps` tokens is computed with.
struct ForwardWork {
  ForwardWork(const GatedScanInput& in, std::size_t steps) : queries(in), keys(in.K, steps), values(steps, in.V) {}
  SelectedQueries queries;
  Panels keys, values;
  Scores raw, weighted;
  ChunkDecay decay;
};

void forward_head(const Tokens& tokens, std::size_t group, std::size_t h, ForwardWork& work, Panels& S, float* o) {
  const GatedScanInput& in = tokens.in;
  const std::size_t row = in.H * in.V, rows = tokens.selected.rows;
  o += tokens.output(h);
  work.decay.load(in, h, tokens.first, tokens.steps, tokens.selected);
  multiply({work.queries.data, work.queries.stride, 1}, rows, S, o, row);
  scale_rows(o, row, work.decay.since_start, rows, in.V, o, row);
  multiply_elements(work.raw.values, work.decay.between, rows * kChunk, work.weighted.values);
  work.values.pack(tokens.values(h), in.v.stride);
  if (in.w.data) work.values.scale_rows(work.decay.weight, tokens.steps);
  multiply({work.weighted.values, kChunk, 1}, rows, work.values, o, row, true);

  S.scale(work.decay.whole);
  work.values.scale_rows(work.decay.to_end, tokens.steps);
  for (std::size_t n = 0; n < in.V; n += kPanelColumns)
    multiply_panel({tokens.keys(group), 1, in.k.stride}, in.K, work.values.panel(n), tokens.steps, S.row(n, 0),
                   kPanelColumns, true, kPanelColumns);
}

// --- backward

struct BackwardWork {
  BackwardWork(const GatedScanInput& in, std::size_t steps)
      : queries(in),
        keys(in.K, steps),
        key_rows(steps, in.K),
        query_rows(steps, in.K),
        values(in.V, steps),
        dout(steps, in.V),
        state(in.K, in.V),
        state_columns(in.V, in.K),
        scaled(steps * in.V, kUnset),
        dq(steps * in.K, kUnset) {}
  SelectedQueries queries;
  Panels keys, key_rows, query_rows;          // of the group
  Panels values, dout, state, state_columns;  // of the head
  AlignedFloats scaled;                       // [steps, V]
  AlignedFloats dq;                           // [steps, K]
  Scores raw, weighted, gradient, all_gradients;
  ChunkDecay decay;
};

// The gradient of l, but for what flows through the next state: o[t] grows with l[t], what k[t] gives shrinks with it.
void decay_gradient(const Tokens& tokens, std::size_t h, BackwardWork& work, const float* dv, float* dl) {
  const GatedScanInput& in = tokens.in;
  for (std::size_t t = 0; t < tokens.steps; ++t)
    dl[t] = -work.decay.weight[t] * dot(tokens.values(h) + t * in.v.stride, dv + t * in.H * in.V, in.V);
  alignas(64) float given[kChunk] = {};
  for (std::size_t r = 0; r < tokens.selected.rows; ++r) {
    // What each pair of tokens gives to the loss; a token with itself gives to both sides.
    const float *raw = work.raw.values + r * kChunk, *gradient = work.gradient.values + r * kChunk;
    for_elements(kChunk, [&](auto d, std::size_t s) {
      const auto sum = hn::MulAdd(hn::LoadU(d, raw + s), hn::LoadU(d, gradient + s), hn::LoadU(d, given + s));
      hn::StoreU(sum, d, given + s);
    });
    dl[tokens.selected.position[r]] +=
        dot(raw, gradient, kChunk) + dot(work.queries.data + r * work.queries.stride, work.dq + r * in.K, in.K);
  }
  for (std::size_t t = 0; t < tokens.steps; ++t) dl[t] -= given[t];
}

// Gradients of weighted values -> those of values and weights.
void weight_gradient(const Tokens& tokens, std::size_t h, const ChunkDecay& decay, float* dv, float* dw) {
  const GatedScanInput& in = tokens.in;
  for (std::size_t t = 0; t < tokens.steps; ++t, dv += in.H * in.V) {
    dw[(tokens.first + t) * in.H + h] = dot(tokens.values(h) + t * in.v.stride, dv, in.V);
    scale(dv, decay.weight[t], in.V, dv);
  }
}

// S is the state before the chunk, `next` the one after it (nullptr: none follows), dS [K, V] the gradient of that
// one.
void backward_head(const Tokens& tokens, std::size_t group, std::size_t h, BackwardWork& work, const float* S,
                   const float* next, float* dS, const float* all_dout, const GatedScanGradients& gradients) {
  const GatedScanInput& in = tokens.in;
  const std::size_t row = in.H * in.V, key_row = in.G * in.K, rows = tokens.selected.rows;
  const float* dout = all_dout + tokens.output(h);
  float *dv = gradients.dv + tokens.value_place(h), *dq = gradients.dq + tokens.key_place(group),
        *dk = gradients.dk + tokens.key_place(group);
  work.decay.load(in, h, tokens.first, tokens.steps, tokens.selected);

  // What reaches the values, and the keys, from the state after the chunk.
  work.state.pack(dS, in.V);
  multiply({tokens.keys(group), in.k.stride, 1}, tokens.steps, work.state, dv, row);
  scale_rows(dv, row, work.decay.to_end, tokens.steps, in.V, dv, row);
  work.state_columns.pack_transposed(dS, in.V);
  scale_rows(tokens.values(h), in.v.stride, work.decay.weighted_to_end, tokens.steps, in.V, work.scaled, in.V);
  multiply({work.scaled, in.V, 1}, tokens.steps, work.state_columns, dk, key_row, true);

  // What reaches the queries through the state before it.
  if (rows > 0) work.state_columns.pack_transposed(S, in.V);
  scale_rows(dout, row, work.decay.since_start, rows, in.V, work.scaled, in.V);
  multiply({work.scaled, in.V, 1}, rows, work.state_columns, work.dq, in.K);
  for (std::size_t r = 0; r < rows; ++r)
    add_elements(work.dq + r * in.K, in.K, dq + tokens.selected.position[r] * key_row);

  // Between the chunk's own tokens; that of queries and keys is summed over the heads of the group first.
  work.values.pack_transposed(tokens.values(h), in.v.stride);
  for (std::size_t s = 0; s < tokens.steps; s += kPanelColumns)
    multiply_panel({dout, row, 1}, rows, work.values.panel(s), in.V, work.gradient.values + s, kChunk, false,
                   std::min(kPanelColumns, whole_vectors(tokens.steps - s)));
  multiply_elements(work.gradient.values, work.decay.between, rows * kChunk, work.gradient.values);
  if (in.w.data)
    for (std::size_t r = 0; r < rows; ++r) {
      float* scores = work.gradient.values + r * kChunk;
      multiply_elements(scores, work.decay.weight, kChunk, scores);
    }
  add_elements(work.gradient.values, rows * kChunk, work.all_gradients.values);
  if (in.decay == Decay::head) {
    float dl[kChunk];
    decay_gradient(tokens, h, work, dv, dl);
    if (next) dl[tokens.steps - 1] += dot(next, dS, in.K * in.V);
    float sum = 0;
    for (std::size_t t = tokens.steps; t-- > 0;) gradients.dg[(tokens.first + t) * in.H + h] = sum += dl[t];
  }
  multiply_elements(work.raw.values, work.decay.between, rows * kChunk, work.weighted.values);
  work.dout.pack_rows(dout, row, rows);
  const Section given{work.dout, rows, in.V};
  multiply({work.weighted.values, 1, kChunk}, tokens.steps, given, dv, row, true);
  if (in.w.data) weight_gradient(tokens, h, work.decay, dv, gradients.dw);

  // The gradient of the state before the chunk.
  scale(dS, work.decay.whole, in.K * in.V, dS);
  work.dout.scale_rows(work.decay.since_start, rows);
  multiply({work.queries.data, 1, work.queries.stride}, in.K, given, dS, in.V, true);
}

void backward_group(const Tokens& tokens, std::size_t group, BackwardWork& work, const GatedScanGradients& gradients) {
  const GatedScanInput& in = tokens.in;
  const std::size_t key_row = in.G * in.K;
  const Selected& selected = tokens.selected;
  if (selected.rows == 0) return;
  work.key_rows.pack(tokens.keys(group), in.k.stride);
  multiply({work.all_gradients.values, kChunk, 1}, selected.rows, work.key_rows, work.dq, in.K);
  for (std::size_t r = 0; r < selected.rows; ++r)
    add_elements(work.dq + r * in.K, in.K, gradients.dq + tokens.key_place(group) + selected.position[r] * key_row);
  work.query_rows.pack_rows(work.queries.data, work.queries.stride, selected.rows);
  multiply({work.all_gradients.values, 1, kChunk}, tokens.steps, Section{work.query_rows, selected.rows, in.K},
           gradients.dk + tokens.key_place(group), key_row, true);
}

// The work of whole chunks, and of a last one that is shorter.
template <class Work>
class Works {
 public:
  explicit Works(const GatedScanInput& in) {
    if (in.L >= kChunk) whole_ = std::make_unique<Work>(in, kChunk);
    if (in.L % kChunk != 0) rest_ = std::make_unique<Work>(in, in.L % kChunk);
  }
  Work& operator()(std::size_t steps) { return steps == kChunk ? *whole_ : *rest_; }

 private:
  std::unique_ptr<Work> whole_, rest_;
};

void chunked_scan_simd(const GatedScanInput& in, float* out, const GatedScanSaved& saved) {
  Works<ForwardWork> works(in);
  const std::size_t heads = in.H / in.G, chunks = chunks_of(in);
  std::vector<Panels> states;
  for (std::size_t i = 0; i < heads; ++i) states.emplace_back(in.K, in.V);
  for (std::size_t b = 0; b < in.B; ++b)
    for (std::size_t group = 0; group < in.G; ++group) {
      for (Panels& S : states) S.clear();
      for (std::size_t c = 0; c < chunks; ++c) {
        const Tokens tokens = tokens_of(in, b, c);
        ForwardWork& work = works(tokens.steps);
        work.queries.load(tokens, group);
        score(tokens, group, work.queries, work.keys, work.raw);
        for (std::size_t i = 0; i < heads; ++i) {
          const std::size_t h = group * heads + i;
          if (saved.states) states[i].unpack(saved.states + ((b * in.H + h) * chunks + c) * in.K * in.V, in.V);
          forward_head(tokens, group, h, work, states[i], out);
        }
      }
    }
}

void chunked_scan_backward_simd(const GatedScanInput& in, const GatedScanSaved& saved, const float* dout,
                                const GatedScanGradients& gradients) {
  Works<BackwardWork> works(in);
  const std::size_t heads = in.H / in.G, chunks = chunks_of(in), state = in.K * in.V;
  const AlignedFloats dS(heads * state, kUnset);
  std::fill_n(gradients.dq, in.B * in.L * in.G * in.K, 0.0F);
  std::fill_n(gradients.dk, in.B * in.L * in.G * in.K, 0.0F);
  for (std::size_t b = 0; b < in.B; ++b)
    for (std::size_t group = 0; group < in.G; ++group) {
      std::fill_n(dS.data(), heads * state, 0.0F);
      for (std::size_t c = chunks; c-- > 0;) {
        const Tokens tokens = tokens_of(in, b, c);
        BackwardWork& work = works(tokens.steps);
        work.queries.load(tokens, group);
        score(tokens, group, work.queries, work.keys, work.raw);
        std::fill_n(work.all_gradients.values, kChunk * kChunk, 0.0F);
        for (std::size_t i = 0; i < heads; ++i) {
          const std::size_t h = group * heads + i;
          const float* S = saved.states + ((b * in.H + h) * chunks + c) * state;
          backward_head(tokens, group, h, work, S, c + 1 < chunks ? S + state : nullptr, dS + i * state, dout,
                        gradients);
        }
        backward_group(tokens, group, work, gradients);
      }
    }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(chunked_scan_simd);
HWY_EXPORT(chunked_scan_backward_simd);

std::size_t chunked_scan_states_size(const GatedScanInput& in) {
  return in.B * in.H * ((in.L + kGatedScanChunk - 1) / kGatedScanChunk) * in.K * in.V;
}

void chunked_scan(const GatedScanInput& in, float* out, const GatedScanSaved& saved) {
  HWY_DYNAMIC_DISPATCH(chunked_scan_simd)(in, out, saved);
}

void chunked_scan_backward(const GatedScanInput& in, const GatedScanSaved& saved, const float* dout,
                           const GatedScanGradients& gradients) {
  HWY_DYNAMIC_DISPATCH(chunked_scan_backward_simd)(in, saved, dout, gradients);
}

}  // namespace mneme::kernels
#endif
