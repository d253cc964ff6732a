#include "kernels/scan/gated_scan.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/scan/chunked_scan.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan/gated_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, kMaxLanes>;

constexpr std::size_t kChunk = kGatedScanChunk;

// One head of one chunk of tokens, rows padded with zeros.
struct HeadRows {
  explicit HeadRows(const GatedScanInput& in)
      : Kp(padded(in.K)),
        Vp(padded(in.V)),
        q(kChunk * Kp),
        k(kChunk * Kp),
        a(kChunk * Kp),
        v(kChunk * Vp),
        o(kChunk * Vp) {}

  void load(const GatedScanInput& in, std::size_t h, std::size_t first, std::size_t steps) {
    const std::size_t group = h / (in.H / in.G) * in.K;
    for (std::size_t t = 0; t < steps; ++t) {
      std::memcpy(q + t * Kp, in.q[first + t] + group, in.K * sizeof(float));
      std::memcpy(k + t * Kp, in.k[first + t] + group, in.K * sizeof(float));
      const float *value = in.v[first + t] + h * in.V, weight = in.weight(first + t, h);
      float* to = v + t * Vp;
      for (std::size_t j = 0; j < in.V; ++j) to[j] = weight * value[j];
      load_decay(in, h, group, first + t, a + t * Kp);
    }
  }

  std::size_t Kp, Vp;
  // a = exp(g); v times its weight; o holds outputs, or their gradient in the backward pass
  AlignedFloats q, k, a, v, o;

 private:
  void load_decay(const GatedScanInput& in, std::size_t h, std::size_t group, std::size_t row, float* to) {
    const Floats d;
    if (in.decay == Decay::none) return std::fill_n(to, in.K, 1.0F), void();
    if (in.decay == Decay::channel)
      std::memcpy(to, in.g[row] + group, in.K * sizeof(float));
    else
      std::fill_n(to, in.K, in.decay == Decay::head ? in.g[row][h] : in.g.data[h]);
    for (std::size_t i = 0; i < Kp; i += hn::Lanes(d)) hn::Store(decay_exp(d, hn::Load(d, to + i)), d, to + i);
  }
};

// `W` vectors of columns of S [K, Vp], all tokens of the chunk.
template <std::size_t W>
void forward_columns(const HeadRows& rows, std::size_t K, float* S, float* o, std::size_t steps) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d), Vp = rows.Vp;
  for (std::size_t t = 0; t < steps; ++t) {
    const float *q = rows.q + t * rows.Kp, *k = rows.k + t * rows.Kp, *a = rows.a + t * rows.Kp;
    hn::Vec<Floats> value[W], sum[W];
#pragma GCC unroll 4
    for (std::size_t w = 0; w < W; ++w) {
      value[w] = hn::Load(d, o + t * Vp + w * lanes);
      sum[w] = hn::Zero(d);
    }
    float* state = S;
    for (std::size_t i = 0; i < K; ++i, state += Vp) {
      const auto ai = hn::Set(d, a[i]), ki = hn::Set(d, k[i]), qi = hn::Set(d, q[i]);
#pragma GCC unroll 4
      for (std::size_t w = 0; w < W; ++w) {
        const auto s = hn::MulAdd(ai, hn::Load(d, state + w * lanes), hn::Mul(ki, value[w]));
        hn::Store(s, d, state + w * lanes);
        sum[w] = hn::MulAdd(qi, s, sum[w]);
      }
    }
#pragma GCC unroll 4
    for (std::size_t w = 0; w < W; ++w) hn::Store(sum[w], d, o + t * Vp + w * lanes);
  }
}

void gated_scan_simd(const GatedScanInput& in, float* out, const GatedScanSaved& saved) {
  const std::size_t lanes = hn::Lanes(Floats());
  HeadRows rows(in);
  const std::size_t Vp = rows.Vp, size = in.K * Vp;
  float* states = saved.states;
  for (std::size_t b = 0; b < in.B; ++b)
    for (std::size_t h = 0; h < in.H; ++h) {
      AlignedFloats S(size);
      for (std::size_t t0 = 0; t0 < in.L; t0 += kChunk) {
        if (states) {
          std::memcpy(states, S.data(), size * sizeof(float));
          states += size;
        }
        const std::size_t first = b * in.L + t0, steps = std::min(kChunk, in.L - t0);
        rows.load(in, h, first, steps);
        // Each column's outputs replace its values.
        std::memcpy(rows.o.data(), rows.v.data(), steps * Vp * sizeof(float));
        for (std::size_t j = 0; j < Vp;) {
          const std::size_t left = (Vp - j) / lanes;
          if (left >= 4)
            forward_columns<4>(rows, in.K, S + j, rows.o + j, steps), j += 4 * lanes;
          else if (left >= 2)
            forward_columns<2>(rows, in.K, S + j, rows.o + j, steps), j += 2 * lanes;
          else
            forward_columns<1>(rows, in.K, S + j, rows.o + j, steps), j += lanes;
        }
        for (std::size_t t = 0; t < steps; ++t)
          std::memcpy(out + ((first + t) * in.H + h) * in.V, rows.o + t * Vp, in.V * sizeof(float));
      }
    }
}

// The backward pass vectorises over keys: S and dS are kept transposed, [Vp, W lanes] for one block of keys, so that
// only dv needs sums across lanes.
struct BackwardRows {
  explicit BackwardRows(const HeadRows& rows)
      : dq(kChunk * rows.Kp),
        dk(kChunk * rows.Kp),
        dg(kChunk * rows.Kp),
        dv(kChunk * rows.Vp),
        history((kChunk + 1) * rows.Vp * 2 * kMaxLanes) {}
  AlignedFloats dq, dk, dg, dv;
  AlignedFloats history;  // the states of one block of keys before each token
};

// dq = S dout, with S recomputed from the saved one (history, first entry). With `keep` each state stays.
template <std::size_t W>
void recompute(const HeadRows& rows, BackwardRows& work, std::size_t i0, std::size_t steps, bool keep) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d), size = rows.Vp * W * lanes;
  for (std::size_t t = 0; t < steps; ++t) {
    const std::size_t at = t * rows.Kp + i0;
    const float *v = rows.v + t * rows.Vp, *dout = rows.o + t * rows.Vp;
    const float* before = work.history + (keep ? t * size : 0);
    float* after = work.history + (keep ? (t + 1) * size : 0);
    hn::Vec<Floats> a[W], k[W], dq[W];
#pragma GCC unroll 4
    for (std::size_t w = 0; w < W; ++w) {
      a[w] = hn::Load(d, rows.a + at + w * lanes);
      k[w] = hn::Load(d, rows.k + at + w * lanes);
      dq[w] = hn::Zero(d);
    }
    for (std::size_t j = 0; j < rows.Vp; ++j) {
      const auto vj = hn::Set(d, v[j]), gj = hn::Set(d, dout[j]);
#pragma GCC unroll 4
      for (std::size_t w = 0; w < W; ++w) {
        const std::size_t i = (j * W + w) * lanes;
        const auto s = hn::MulAdd(a[w], hn::Load(d, before + i), hn::Mul(k[w], vj));
        hn::Store(s, d, after + i);
        dq[w] = hn::MulAdd(gj, s, dq[w]);
      }
    }
#pragma GCC unroll 4
    for (std::size_t w = 0; w < W; ++w) hn::Store(dq[w], d, work.dq + at + w * lanes);
  }
}

// to[r] += the sum of the lanes of part[r], for `lanes` vectors: a tree of pairwise sums.
HWY_INLINE void add_sums(float* part, float* to) {
  const Floats d;
#if HWY_TARGET != HWY_SCALAR
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t count = lanes; count > 1; count /= 2)
    for (std::size_t i = 0; i < count / 2; ++i) {
      const auto low = hn::Load(d, part + 2 * i * lanes), high = hn::Load(d, part + (2 * i + 1) * lanes);
      hn::Store(hn::Add(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low)), d, part + i * lanes);
    }
#endif
  hn::Store(hn::Add(hn::Load(d, to), hn::Load(d, part)), d, to);
}

template <std::size_t W>
void backward_keys(const HeadRows& rows, BackwardRows& work, float* dS, std::size_t i0, std::size_t steps, bool decay) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d), size = rows.Vp * W * lanes;
  alignas(64) std::array<float, kMaxLanes * kMaxLanes> part;
  for (std::size_t t = steps; t-- > 0;) {
    const std::size_t at = t * rows.Kp + i0;
    const float *v = rows.v + t * rows.Vp, *dout = rows.o + t * rows.Vp,
                *before = work.history + (decay ? t * size : 0);
    hn::Vec<Floats> q[W], k[W], a[W], dk[W], dg[W];
#pragma GCC unroll 4
    for (std::size_t w = 0; w < W; ++w) {
      q[w] = hn::Load(d, rows.q + at + w * lanes);
      k[w] = hn::Load(d, rows.k + at + w * lanes);
      a[w] = hn::Load(d, rows.a + at + w * lanes);
      dk[w] = dg[w] = hn::Zero(d);
    }
    for (std::size_t j = 0; j < rows.Vp; ++j) {
      const auto vj = hn::Set(d, v[j]), gj = hn::Set(d, dout[j]);
      auto dv = hn::Zero(d);
#pragma GCC unroll 4
      for (std::size_t w = 0; w < W; ++w) {
        const std::size_t i = (j * W + w) * lanes;
        const auto grad = hn::MulAdd(q[w], gj, hn::Load(d, dS + i));
        dk[w] = hn::MulAdd(grad, vj, dk[w]);
        dv = hn::MulAdd(grad, k[w], dv);
        const auto carried = hn::Mul(grad, a[w]);
        hn::Store(carried, d, dS + i);
        if (decay) dg[w] = hn::MulAdd(carried, hn::Load(d, before + i), dg[w]);
      }
      hn::Store(dv, d, part.data() + j % lanes * lanes);
      if (j % lanes == lanes - 1) add_sums(part.data(), work.dv + t * rows.Vp + (j + 1 - lanes));
    }
#pragma GCC unroll 4
    for (std::size_t w = 0; w < W; ++w) {
      hn::Store(dk[w], d, work.dk + at + w * lanes);
      hn::Store(dg[w], d, work.dg + at + w * lanes);
    }
  }
}

template <std::size_t W>
void backward_block(const GatedScanInput& in, const HeadRows& rows, BackwardRows& work, const float* state, float* dS,
                    std::size_t i0, std::size_t steps) {
  const std::size_t width = W * hn::Lanes(Floats());
  const bool decay = in.decay == Decay::head || in.decay == Decay::channel;
  std::fill_n(work.history.data(), rows.Vp * width, 0.0F);
  for (std::size_t i = i0; i < std::min(i0 + width, in.K); ++i)
    for (std::size_t j = 0; j < in.V; ++j) work.history.data()[j * width + i - i0] = state[i * rows.Vp + j];
  recompute<W>(rows, work, i0, steps, decay);
  backward_keys<W>(rows, work, dS + i0 * rows.Vp, i0, steps, decay);
}

void add_row(float* to, const float* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
}

// From that of a weighted value.
void store_value_gradient(const GatedScanInput& in, std::size_t row, std::size_t h, const float* weighted,
                          const GatedScanGradients& gradients) {
  const float *v = in.v[row] + h * in.V, weight = in.weight(row, h);
  float *dv = gradients.dv + (row * in.H + h) * in.V, sum = 0;
  for (std::size_t j = 0; j < in.V; ++j) {
    sum += weighted[j] * v[j];
    dv[j] = weight * weighted[j];
  }
  if (in.w.data) gradients.dw[row * in.H + h] = sum;
}

void store_gradients(const GatedScanInput& in, const HeadRows& rows, BackwardRows& work,
                     const GatedScanGradients& gradients, std::size_t h, std::size_t first, std::size_t steps) {
  for (std::size_t t = 0; t < steps; ++t) {
    const std::size_t row = first + t, key = (row * in.G + h / (in.H / in.G)) * in.K;
    add_row(gradients.dq + key, work.dq + t * rows.Kp, in.K);
    add_row(gradients.dk + key, work.dk + t * rows.Kp, in.K);
    store_value_gradient(in, row, h, work.dv + t * rows.Vp, gradients);
    if (in.decay == Decay::channel) add_row(gradients.dg + key, work.dg + t * rows.Kp, in.K);
    if (in.decay != Decay::head) continue;
    float sum = 0;
    for (std::size_t i = 0; i < in.K; ++i) sum += (work.dg + t * rows.Kp)[i];
    gradients.dg[row * in.H + h] = sum;
  }
}

void gated_scan_backward_simd(const GatedScanInput& in, const GatedScanSaved& saved, const float* dout,
                              const GatedScanGradients& gradients) {
  const std::size_t lanes = hn::Lanes(Floats()), chunks = (in.L + kChunk - 1) / kChunk;
  HeadRows rows(in);
  BackwardRows work(rows);
  // Heads of one group add to the same queries and keys.
  const std::size_t keys = in.B * in.L * in.G * in.K;
  std::fill_n(gradients.dq, keys, 0.0F);
  std::fill_n(gradients.dk, keys, 0.0F);
  if (in.decay == Decay::channel) std::fill_n(gradients.dg, keys, 0.0F);
  for (std::size_t b = 0; b < in.B; ++b)
    for (std::size_t h = 0; h < in.H; ++h) {
      AlignedFloats dS(rows.Kp * rows.Vp);
      for (std::size_t c = chunks; c-- > 0;) {
        const std::size_t first = b * in.L + c * kChunk, steps = std::min(kChunk, in.L - c * kChunk);
        const float* state = saved.states + ((b * in.H + h) * chunks + c) * in.K * rows.Vp;
        rows.load(in, h, first, steps);
        for (std::size_t t = 0; t < steps; ++t)
          std::memcpy(rows.o + t * rows.Vp, dout + ((first + t) * in.H + h) * in.V, in.V * sizeof(float));
        std::fill_n(work.dv.data(), steps * rows.Vp, 0.0F);
        for (std::size_t i = 0; i < rows.Kp;) {
          if ((rows.Kp - i) / lanes >= 2)
            backward_block<2>(in, rows, work, state, dS.data(), i, steps), i += 2 * lanes;
          else
            backward_block<1>(in, rows, work, state, dS.data(), i, steps), i += lanes;
        }
        store_gradients(in, rows, work, gradients, h, first, steps);
      }
    }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(gated_scan_simd);
HWY_EXPORT(gated_scan_backward_simd);

namespace {

// Small states are faster a token at a time.
bool in_chunks(const GatedScanInput& in) { return in.decay != Decay::channel && in.K * in.V >= 1024; }

// Whether outputs at other positions are never computed, and not only dropped.
bool leaves_out(const GatedScanInput& in) { return !in.positions || (in_chunks(in) && !use_reference()); }

GatedScanInput with_all_outputs(GatedScanInput in) {
  in.positions = nullptr;
  return in;
}

// Calls visit(offset of an output among all, its offset among the selected ones).
template <class Visit>
void for_positions(const GatedScanInput& in, Visit visit) {
  const std::size_t row = in.H * in.V;
  for (std::size_t r = 0; r < in.R; ++r) visit(static_cast<std::size_t>(in.positions[r]) * row, r * row);
}

}  // namespace

std::size_t GatedScanInput::states_size() const {
  if (in_chunks(*this)) return chunked_scan_states_size(*this);
  return B * H * ((L + kGatedScanChunk - 1) / kGatedScanChunk) * K * padded(V);
}

void gated_scan(const GatedScanInput& in, float* out, const GatedScanSaved& saved) {
  if (!leaves_out(in)) {
    const AlignedFloats all(in.B * in.L * in.H * in.V, kUnset);
    gated_scan(with_all_outputs(in), all.data(), saved);
    for_positions(in, [&](std::size_t from, std::size_t to) { std::copy_n(all.data() + from, in.H * in.V, out + to); });
    return;
  }
  if (use_reference()) return gated_scan_reference(in, out, saved);
  if (in_chunks(in)) return chunked_scan(in, out, saved);
  HWY_DYNAMIC_DISPATCH(gated_scan_simd)(in, out, saved);
}

void gated_scan_backward(const GatedScanInput& in, const GatedScanSaved& saved, const float* dout,
                         const GatedScanGradients& gradients) {
  if (!leaves_out(in)) {
    const AlignedFloats all(in.B * in.L * in.H * in.V);
    for_positions(in,
                  [&](std::size_t to, std::size_t from) { std::copy_n(dout + from, in.H * in.V, all.data() + to); });
    return gated_scan_backward(with_all_outputs(in), saved, all.data(), gradients);
  }
  if (use_reference()) return gated_scan_backward_reference(in, saved, dout, gradients);
  if (in_chunks(in)) return chunked_scan_backward(in, saved, dout, gradients);
  HWY_DYNAMIC_DISPATCH(gated_scan_backward_simd)(in, saved, dout, gradients);
}

}  // namespace mneme::kernels
#endif
