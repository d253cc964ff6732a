#include "kernels/scan/selective_scan.h"

#include <algorithm>
#include <cstring>

#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan/selective_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, kMaxLanes>;

constexpr std::size_t kChunk = kSelectiveScanChunk;
// States that the backward pass treats together; bounds its working memory at any N.
constexpr std::size_t kTile = 16;

// States and their like are kept by blocks of `lanes` channels: [Ep / lanes][N][lanes].
AlignedFloats blocked(const SelectiveScanInput& in, const float* source) {
  const std::size_t lanes = hn::Lanes(Floats());
  AlignedFloats result(padded(in.E) * in.N);
  for (std::size_t e = 0; e < in.E; ++e)
    for (std::size_t n = 0; n < in.N; ++n)
      result.data()[(e / lanes * in.N + n) * lanes + e % lanes] = source[e * in.N + n];
  return result;
}

// What both passes derive from the inputs of one chunk, rows padded with zeros: [kChunk, Ep].
struct ChunkRows {
  explicit ChunkRows(const SelectiveScanInput& in)
      : Ep(padded(in.E)),
        u(kChunk * Ep),
        delta(kChunk * Ep),
        input(kChunk * Ep),
        y(kChunk * Ep),
        slope(kChunk * Ep),
        skip(Ep) {
    std::memcpy(skip.data(), in.D, in.E * sizeof(float));
  }

  // y starts as D u; slope is the derivative of softplus.
  void load(const SelectiveScanInput& in, std::size_t first, std::size_t steps) {
    const Floats d;
    for (std::size_t t = 0; t < steps; ++t) {
      std::memcpy(u + t * Ep, in.u[first + t], in.E * sizeof(float));
      std::memcpy(delta + t * Ep, in.pre[first + t], in.E * sizeof(float));
      for (std::size_t e = t * Ep; e < (t + 1) * Ep; e += hn::Lanes(d)) {
        const auto pre = hn::Load(d, delta + e), ut = hn::Load(d, u + e), step = softplus(d, pre);
        hn::Store(step, d, delta + e);
        hn::Store(hn::Mul(step, ut), d, input + e);
        hn::Store(hn::Mul(hn::Load(d, skip + (e - t * Ep)), ut), d, y + e);
        hn::Store(sigmoid(d, pre), d, slope + e);
      }
    }
  }

  std::size_t Ep;
  AlignedFloats u, delta, input, y, slope, skip;  // input = delta u
};

void forward_chunk(const SelectiveScanInput& in, ChunkRows& rows, const float* A, float* h, std::size_t first,
                   std::size_t steps) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t e = 0; e < rows.Ep; e += lanes, A += in.N * lanes, h += in.N * lanes) {
    for (std::size_t t = 0; t < steps; ++t) {
      const std::size_t at = t * rows.Ep + e;
      const float *Bm = in.Bm[first + t], *Cm = in.Cm[first + t];
      const auto delta = hn::Load(d, rows.delta + at), input = hn::Load(d, rows.input + at);
      auto y = hn::Load(d, rows.y + at);
      for (std::size_t n = 0; n < in.N; ++n) {
        const auto a = decay_exp(d, hn::Mul(delta, hn::Load(d, A + n * lanes)));
        const auto state = hn::MulAdd(a, hn::Load(d, h + n * lanes), hn::Mul(input, hn::Set(d, Bm[n])));
        hn::Store(state, d, h + n * lanes);
        y = hn::MulAdd(state, hn::Set(d, Cm[n]), y);
      }
      hn::Store(y, d, rows.y + at);
    }
  }
}

void selective_scan_simd(const SelectiveScanInput& in, float* y, float* checkpoints) {
  const Floats d;
  const AlignedFloats A = blocked(in, in.A);
  ChunkRows rows(in);
  const std::size_t states = rows.Ep * in.N;
  AlignedFloats gate(rows.Ep);
  for (std::size_t b = 0; b < in.B; ++b) {
    AlignedFloats h(states);
    for (std::size_t t0 = 0; t0 < in.L; t0 += kChunk) {
      if (checkpoints) {
        std::memcpy(checkpoints, h.data(), states * sizeof(float));
        checkpoints += states;
      }
      const std::size_t first = b * in.L + t0, steps = std::min(kChunk, in.L - t0);
      rows.load(in, first, steps);
      forward_chunk(in, rows, A.data(), h.data(), first, steps);
      for (std::size_t t = 0; t < steps; ++t) {
        float* row = rows.y + t * rows.Ep;
        if (in.z.data) {
          std::memcpy(gate.data(), in.z[first + t], in.E * sizeof(float));
          for (std::size_t e = 0; e < rows.Ep; e += hn::Lanes(d)) {
            const auto z = hn::Load(d, gate + e);
            hn::Store(hn::Mul(hn::Load(d, row + e), hn::Mul(z, sigmoid(d, z))), d, row + e);
          }
        }
        std::memcpy(y + (first + t) * in.E, row, in.E * sizeof(float));
      }
    }
  }
}

// One chunk of the backward pass. dy is the gradient of y before the gate; q = sum_n g Bm and s = sum_n g h' a A
// are what the gradients of u and delta are made of.
struct BackwardRows {
  explicit BackwardRows(std::size_t Ep)
      : dy(kChunk * Ep),
        dout(kChunk * Ep),
        q(kChunk * Ep),
        s(kChunk * Ep),
        h((kChunk + 1) * kTile * kMaxLanes),
        a(kChunk * kTile * kMaxLanes),
        sum_B(kChunk * kTile * kMaxLanes),
        sum_C(kChunk * kTile * kMaxLanes) {}
  AlignedFloats dy, dout, q, s;
  AlignedFloats h, a, sum_B, sum_C;  // of one tile
};

// States n0 .. n0 + tile of one block of channels: forward again from the checkpoint, keeping states and decays.
void recompute_tile(const SelectiveScanInput& in, ChunkRows& rows, BackwardRows& work, const float* A, std::size_t e,
                    std::size_t n0, std::size_t tile, std::size_t first, std::size_t steps) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t t = 0; t < steps; ++t) {
    const std::size_t at = t * rows.Ep + e;
    const float *Bm = in.Bm[first + t] + n0, *Cm = in.Cm[first + t] + n0;
    const auto delta = hn::Load(d, rows.delta + at), input = hn::Load(d, rows.input + at);
    auto y = hn::Load(d, rows.y + at);
    const float* before = work.h + t * kTile * lanes;
    float *after = work.h + (t + 1) * kTile * lanes, *decay = work.a + t * kTile * lanes;
    for (std::size_t n = 0; n < tile; ++n) {
      const auto a = decay_exp(d, hn::Mul(delta, hn::Load(d, A + n * lanes)));
      const auto state = hn::MulAdd(a, hn::Load(d, before + n * lanes), hn::Mul(input, hn::Set(d, Bm[n])));
      hn::Store(a, d, decay + n * lanes);
      hn::Store(state, d, after + n * lanes);
      y = hn::MulAdd(state, hn::Set(d, Cm[n]), y);
    }
    hn::Store(y, d, rows.y + at);
  }
}

void backward_tile(const SelectiveScanInput& in, ChunkRows& rows, BackwardRows& work, const float* A, float* g,
                   float* dA, std::size_t e, std::size_t n0, std::size_t tile, std::size_t first, std::size_t steps) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t t = steps; t-- > 0;) {
    const std::size_t at = t * rows.Ep + e, tile_at = t * kTile * lanes;
    const float *Bm = in.Bm[first + t] + n0, *Cm = in.Cm[first + t] + n0;
    const auto delta = hn::Load(d, rows.delta + at), input = hn::Load(d, rows.input + at),
               dy = hn::Load(d, work.dy + at);
    auto q = hn::Load(d, work.q + at), s = hn::Load(d, work.s + at);
    for (std::size_t n = 0; n < tile; ++n) {
      const std::size_t i = tile_at + n * lanes;
      auto grad = hn::MulAdd(dy, hn::Set(d, Cm[n]), hn::Load(d, g + n * lanes));
      const auto after = hn::Load(d, work.h + i + kTile * lanes), before = hn::Load(d, work.h + i);
      hn::Store(hn::MulAdd(dy, after, hn::Load(d, work.sum_C + i)), d, work.sum_C + i);
      hn::Store(hn::MulAdd(grad, input, hn::Load(d, work.sum_B + i)), d, work.sum_B + i);
      q = hn::MulAdd(grad, hn::Set(d, Bm[n]), q);
      grad = hn::Mul(grad, hn::Load(d, work.a + i));
      hn::Store(grad, d, g + n * lanes);
      const auto m = hn::Mul(grad, before);
      s = hn::MulAdd(m, hn::Load(d, A + n * lanes), s);
      hn::Store(hn::MulAdd(m, delta, hn::Load(d, dA + n * lanes)), d, dA + n * lanes);
    }
    hn::Store(q, d, work.q + at);
    hn::Store(s, d, work.s + at);
  }
}

// The gradient of y before the gate, of which y itself is not needed.
void load_output_gradient(const SelectiveScanInput& in, ChunkRows& rows, BackwardRows& work, const float* dy,
                          std::size_t first, std::size_t steps) {
  const Floats d;
  const std::size_t Ep = rows.Ep;
  AlignedFloats gate(Ep);
  for (std::size_t t = 0; t < steps; ++t) {
    std::memcpy(work.dout + t * Ep, dy + (first + t) * in.E, in.E * sizeof(float));
    if (in.z.data) std::memcpy(gate.data(), in.z[first + t], in.E * sizeof(float));
    for (std::size_t e = 0; e < Ep; e += hn::Lanes(d)) {
      auto grad = hn::Load(d, work.dout + t * Ep + e);
      if (in.z.data) {
        const auto z = hn::Load(d, gate + e);
        grad = hn::Mul(grad, hn::Mul(z, sigmoid(d, z)));
      }
      hn::Store(grad, d, work.dy + t * Ep + e);
    }
  }
  std::fill_n(work.q.data(), steps * Ep, 0.0F);
  std::fill_n(work.s.data(), steps * Ep, 0.0F);
}

void store_row_gradients(const SelectiveScanInput& in, ChunkRows& rows, BackwardRows& work, float* dD,
                         const SelectiveScanGradients& out, std::size_t first, std::size_t steps) {
  const Floats d;
  const std::size_t Ep = rows.Ep;
  AlignedFloats du(Ep), dpre(Ep), dz(Ep);
  const auto one = hn::Set(d, 1.0F);
  for (std::size_t t = 0; t < steps; ++t) {
    if (in.z.data) std::memcpy(dz.data(), in.z[first + t], in.E * sizeof(float));
    for (std::size_t e = 0; e < Ep; e += hn::Lanes(d)) {
      const std::size_t at = t * Ep + e;
      const auto q = hn::Load(d, work.q + at), u = hn::Load(d, rows.u + at), dy = hn::Load(d, work.dy + at);
      hn::Store(hn::MulAdd(hn::Load(d, rows.delta + at), q, hn::Mul(hn::Load(d, rows.skip + e), dy)), d, du + e);
      hn::Store(hn::Mul(hn::MulAdd(u, q, hn::Load(d, work.s + at)), hn::Load(d, rows.slope + at)), d, dpre + e);
      hn::Store(hn::MulAdd(dy, u, hn::Load(d, dD + e)), d, dD + e);
      if (!in.z.data) continue;
      const auto z = hn::Load(d, dz + e), s = sigmoid(d, z);
      const auto slope = hn::Mul(s, hn::MulAdd(z, hn::Sub(one, s), one));
      hn::Store(hn::Mul(hn::Mul(hn::Load(d, work.dout + at), hn::Load(d, rows.y + at)), slope), d, dz + e);
    }
    const std::size_t row = (first + t) * in.E, bytes = in.E * sizeof(float);
    std::memcpy(out.du + row, du.data(), bytes);
    std::memcpy(out.dpre + row, dpre.data(), bytes);
    if (in.z.data) std::memcpy(out.dz + row, dz.data(), bytes);
  }
}

void selective_scan_backward_simd(const SelectiveScanInput& in, const float* checkpoints, const float* dy,
                                  const SelectiveScanGradients& out) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const AlignedFloats A = blocked(in, in.A);
  ChunkRows rows(in);
  BackwardRows work(rows.Ep);
  const std::size_t states = rows.Ep * in.N, chunks = (in.L + kChunk - 1) / kChunk;
  AlignedFloats dA(states), dD(rows.Ep);
  for (std::size_t b = 0; b < in.B; ++b) {
    // Sums of one sequence first: rounding grows with L + B, not with L B.
    AlignedFloats g(states), sequence_dA(states), sequence_dD(rows.Ep);
    for (std::size_t c = chunks; c-- > 0;) {
      const std::size_t first = b * in.L + c * kChunk, steps = std::min(kChunk, in.L - c * kChunk);
      const float* checkpoint = checkpoints + (b * chunks + c) * states;
      rows.load(in, first, steps);
      load_output_gradient(in, rows, work, dy, first, steps);
      for (std::size_t n0 = 0; n0 < in.N; n0 += kTile) {
        const std::size_t tile = std::min(kTile, in.N - n0);
        std::fill_n(work.sum_B.data(), kChunk * kTile * lanes, 0.0F);
        std::fill_n(work.sum_C.data(), kChunk * kTile * lanes, 0.0F);
        for (std::size_t e = 0; e < rows.Ep; e += lanes) {
          const std::size_t at = e * in.N + n0 * lanes;
          std::memcpy(work.h.data(), checkpoint + at, tile * lanes * sizeof(float));
          recompute_tile(in, rows, work, A + at, e, n0, tile, first, steps);
          backward_tile(in, rows, work, A + at, g + at, sequence_dA + at, e, n0, tile, first, steps);
        }
        for (std::size_t t = 0; t < steps; ++t)
          for (std::size_t n = 0; n < tile; ++n) {
            const std::size_t i = (t * kTile + n) * lanes, to = (first + t) * in.N + n0 + n;
            out.dBm[to] = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, work.sum_B + i)));
            out.dCm[to] = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, work.sum_C + i)));
          }
      }
      store_row_gradients(in, rows, work, sequence_dD.data(), out, first, steps);
    }
    for (std::size_t i = 0; i < states; ++i) dA.data()[i] += sequence_dA.data()[i];
    for (std::size_t e = 0; e < rows.Ep; ++e) dD.data()[e] += sequence_dD.data()[e];
  }
  for (std::size_t e = 0; e < in.E; ++e)
    for (std::size_t n = 0; n < in.N; ++n) out.dA[e * in.N + n] = dA.data()[(e / lanes * in.N + n) * lanes + e % lanes];
  std::memcpy(out.dD, dD.data(), in.E * sizeof(float));
}

}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(selective_scan_simd);
HWY_EXPORT(selective_scan_backward_simd);

std::size_t selective_scan_checkpoint_size(const SelectiveScanInput& in) {
  return in.B * ((in.L + kSelectiveScanChunk - 1) / kSelectiveScanChunk) * padded(in.E) * in.N;
}

void selective_scan(const SelectiveScanInput& in, float* y, float* checkpoints) {
  if (use_reference()) return selective_scan_reference(in, y);
  HWY_DYNAMIC_DISPATCH(selective_scan_simd)(in, y, checkpoints);
}

void selective_scan_backward(const SelectiveScanInput& in, const float* checkpoints, const float* dy,
                             const SelectiveScanGradients& out) {
  if (use_reference()) return selective_scan_backward_reference(in, dy, out);
  HWY_DYNAMIC_DISPATCH(selective_scan_backward_simd)(in, checkpoints, dy, out);
}

}  // namespace mneme::kernels
#endif
