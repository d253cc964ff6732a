#include "kernels/scan/rwkv7.h"

#include <algorithm>
#include <cstring>

#include "kernels/simd/aligned_floats.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan/rwkv7.cpp"
#include <hwy/foreach_target.h>  // before all others of the library

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "kernels/scan/rwkv7_passes-inl.h"
#include "kernels/simd/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Where the rows of one sequence and head are.
struct Rwkv7Rows {
  const Rwkv7Shape& s;
  std::size_t sequence, head;

  std::size_t token(std::size_t t) const { return ((sequence * s.L + t) * s.H + head) * s.N; }
  std::size_t state(std::size_t chunk) const { return ((sequence * s.H + head) * s.chunks() + chunk) * s.N * s.N; }
};

void rwkv7_decay(const float* w, std::size_t N, float* decay) {
  for_row(N, [=](auto f, std::size_t i) HWY_ATTR { hn::StoreU(hn::Exp(f, hn::LoadU(f, w + i)), f, decay + i); });
}

void rwkv7_copy(const float* from, std::size_t from_stride, float* to, std::size_t to_stride, std::size_t N) {
  for (std::size_t i = 0; i < N; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, N * sizeof(float));
}

void rwkv7_simd(const Rwkv7Input& in, float* out, const Rwkv7Saved& saved) {
  const auto [recalled, states] = saved;
  const auto& s = in.shape;
  const std::size_t stride = whole_vectors(s.N, hn::Lanes(Rwkv7Floats())), row = s.N * sizeof(float);
  AlignedFloats scratch(7 * kMaxLanes + s.N * stride + 6 * stride);
  float *S = scratch.take(s.N * stride), *decay = scratch.take(stride), *p = scratch.take(stride);
  float *p_next = scratch.take(stride), *v = scratch.take(stride), *o = scratch.take(stride);
  const float* nothing = scratch.take(stride);  // zeros: no token follows the last
  for (std::size_t sequence = 0; sequence < s.B; ++sequence)
    for (std::size_t head = 0; head < s.H; ++head) {
      const Rwkv7Rows rows{s, sequence, head};
      std::fill(S, S + s.N * stride, 0.0F);
      std::fill(p, p + stride, 0.0F);
      for (std::size_t t = 0; t < s.L; ++t) {
        const std::size_t at = rows.token(t);
        if (states != nullptr && t % s.kChunk == 0) rwkv7_copy(S, stride, states + rows.state(t / s.kChunk), s.N, s.N);
        if (recalled != nullptr) std::memcpy(recalled + at, p, row);
        std::memcpy(v, in.v + at, row);
        rwkv7_decay(in.w + at, s.N, decay);
        const float* a_next = t + 1 < s.L ? in.a + rows.token(t + 1) : nothing;
        rwkv7_sweep(Rwkv7Advance{s.N, stride, S, S, decay, in.b + at, p, in.k + at, v, in.r + at, a_next, o, p_next});
        std::memcpy(out + at, o, row);
        std::swap(p, p_next);
      }
    }
}

void rwkv7_backward_simd(const Rwkv7Input& in, const Rwkv7Saved& saved, const float* dout, const Rwkv7Gradients& out) {
  const float *recalled = saved.recalled, *states = saved.states;
  const auto& s = in.shape;
  const Rwkv7Floats f;
  const std::size_t lanes = hn::Lanes(f), stride = whole_vectors(s.N, lanes), matrix = s.N * stride;
  const std::size_t row = s.N * sizeof(float);
  AlignedFloats scratch(16 * kMaxLanes + (s.kChunk + 2) * matrix + 5 * stride * lanes + 9 * stride);
  float *past = scratch.take((s.kChunk + 1) * matrix), *dS = scratch.take(matrix);
  float* partial[5];  // lanes of dr, dk, db, ddecay, da
  for (float*& piece : partial) piece = scratch.take(stride * lanes);
  float *decay = scratch.take(stride), *p = scratch.take(stride), *v = scratch.take(stride),
        *dout_row = scratch.take(stride);
  float *dv = scratch.take(stride), *dp = scratch.take(stride), *sums = scratch.take(stride),
        *unused = scratch.take(stride);
  const float* nothing = scratch.take(stride);
  const auto finish = [&](const float* lanes_of_rows, float* to) HWY_ATTR {
    row_sums(f, lanes_of_rows, s.N, sums);
    std::memcpy(to, sums, row);
  };
  for (std::size_t sequence = 0; sequence < s.B; ++sequence)
    for (std::size_t head = 0; head < s.H; ++head) {
      const Rwkv7Rows rows{s, sequence, head};
      std::fill(dS, dS + matrix, 0.0F);
      for (std::size_t chunk = s.chunks(); chunk-- > 0;) {
        const std::size_t start = chunk * s.kChunk, stop = std::min(start + s.kChunk, s.L);
        rwkv7_copy(states + rows.state(chunk), s.N, past, stride, s.N);
        for (std::size_t t = start; t < stop; ++t) {
          const std::size_t at = rows.token(t);
          float* S = past + (t - start) * matrix;
          std::memcpy(v, in.v + at, row);
          std::memcpy(p, recalled + at, row);
          rwkv7_decay(in.w + at, s.N, decay);
          rwkv7_sweep(Rwkv7Advance{s.N, stride, S, S + matrix, decay, in.b + at, p, in.k + at, v, in.r + at, nothing,
                                   dv, unused});
        }
        for (std::size_t t = stop; t-- > start;) {
          const std::size_t at = rows.token(t);
          const float* S = past + (t - start) * matrix;
          std::memcpy(v, in.v + at, row);
          std::memcpy(p, recalled + at, row);
          std::memcpy(dout_row, dout + at, row);
          rwkv7_decay(in.w + at, s.N, decay);
          rwkv7_sweep(Rwkv7RetreatUpdate{s.N, stride, S, S + matrix, dS, in.r + at, in.k + at, in.b + at, dout_row, v,
                                         p, dv, dp, partial[0], partial[1], partial[2], partial[3]});
          rwkv7_sweep(Rwkv7RetreatRecall{s.N, stride, S, dS, decay, in.a + at, dp, partial[4]});
          finish(partial[0], out.dr + at);
          finish(partial[1], out.dk + at);
          finish(partial[2], out.db + at);
          finish(partial[4], out.da + at);
          std::memcpy(out.dv + at, dv, row);
          row_sums(f, partial[3], s.N, sums);
          float* dw = out.dw + at;
          for_row(s.N, [=](auto g, std::size_t i) HWY_ATTR {
            hn::StoreU(hn::Mul(hn::LoadU(g, decay + i), hn::LoadU(g, sums + i)), g, dw + i);
          });
        }
      }
    }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(rwkv7_simd);
HWY_EXPORT(rwkv7_backward_simd);

void rwkv7(const Rwkv7Input& in, float* out, const Rwkv7Saved& saved) {
  if (use_reference()) return rwkv7_reference(in, out, saved);
  HWY_DYNAMIC_DISPATCH(rwkv7_simd)(in, out, saved);
}

void rwkv7_backward(const Rwkv7Input& in, const Rwkv7Saved& saved, const float* dout, const Rwkv7Gradients& gradients) {
  if (use_reference()) return rwkv7_backward_reference(in, saved, dout, gradients);
  HWY_DYNAMIC_DISPATCH(rwkv7_backward_simd)(in, saved, dout, gradients);
}

}  // namespace mneme::kernels
#endif
