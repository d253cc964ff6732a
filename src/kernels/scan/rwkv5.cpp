#include "kernels/scan/rwkv5.h"

#include <algorithm>
#include <cstring>

#include "kernels/simd/aligned_floats.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan/rwkv5.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Rwkv5Floats = hn::ScalableTag<float>;

// y = S^T r, then S <- diag(d) S + k v^T. Rows are key channels, lanes value channels.
struct Rwkv5Advance {
  std::size_t N, stride;
  float* S;
  const float *d, *r, *k, *v;
  float* y;

  template <int NV>
  HWY_INLINE void columns(std::size_t c) const {
    const Rwkv5Floats f;
    const std::size_t lanes = hn::Lanes(f);
    hn::Vec<Rwkv5Floats> value[NV], sum[NV];
#pragma GCC unroll 4
    for (std::size_t n = 0; n < NV; ++n) {
      value[n] = hn::LoadU(f, v + c + n * lanes);
      sum[n] = hn::Zero(f);
    }
    for (std::size_t i = 0; i < N; ++i) {
      float* row = S + i * stride + c;
      const auto d_i = hn::Set(f, d[i]), r_i = hn::Set(f, r[i]), k_i = hn::Set(f, k[i]);
#pragma GCC unroll 4
      for (std::size_t n = 0; n < NV; ++n) {
        const auto entry = hn::LoadU(f, row + n * lanes);
        sum[n] = hn::MulAdd(r_i, entry, sum[n]);
        hn::StoreU(hn::MulAdd(k_i, value[n], hn::Mul(d_i, entry)), f, row + n * lanes);
      }
    }
#pragma GCC unroll 4
    for (std::size_t n = 0; n < NV; ++n) hn::StoreU(sum[n], f, y + c + n * lanes);
  }
};

// dr_partial[i] = S_i * dy, dk_partial[i] = dS_i * v, dd_partial[i] += dS_i * S_i, dv = dS^T k;
// then dS <- diag(d) dS + r dy^T. S is the state before the token.
struct Rwkv5Retreat {
  std::size_t N, stride;
  const float* S;
  float* dS;
  const float *d, *r, *k, *v, *dy;
  float *dr_partial, *dk_partial, *dd_partial, *dv;

  template <int NV>
  HWY_INLINE void columns(std::size_t c) const {
    const Rwkv5Floats f;
    const std::size_t lanes = hn::Lanes(f);
    hn::Vec<Rwkv5Floats> value[NV], out[NV], sum[NV];
#pragma GCC unroll 4
    for (std::size_t n = 0; n < NV; ++n) {
      value[n] = hn::LoadU(f, v + c + n * lanes);
      out[n] = hn::LoadU(f, dy + c + n * lanes);
      sum[n] = hn::Zero(f);
    }
    for (std::size_t i = 0; i < N; ++i) {
      const float* state = S + i * stride + c;
      float* row = dS + i * stride + c;
      const auto d_i = hn::Set(f, d[i]), r_i = hn::Set(f, r[i]), k_i = hn::Set(f, k[i]);
      auto dr = c == 0 ? hn::Zero(f) : hn::LoadU(f, dr_partial + i * lanes);
      auto dk = c == 0 ? hn::Zero(f) : hn::LoadU(f, dk_partial + i * lanes);
      auto dd = hn::LoadU(f, dd_partial + i * lanes);
#pragma GCC unroll 4
      for (std::size_t n = 0; n < NV; ++n) {
        const auto past = hn::LoadU(f, state + n * lanes), entry = hn::LoadU(f, row + n * lanes);
        dr = hn::MulAdd(past, out[n], dr);
        dk = hn::MulAdd(entry, value[n], dk);
        dd = hn::MulAdd(entry, past, dd);
        sum[n] = hn::MulAdd(k_i, entry, sum[n]);
        hn::StoreU(hn::MulAdd(r_i, out[n], hn::Mul(d_i, entry)), f, row + n * lanes);
      }
      hn::StoreU(dr, f, dr_partial + i * lanes);
      hn::StoreU(dk, f, dk_partial + i * lanes);
      hn::StoreU(dd, f, dd_partial + i * lanes);
    }
#pragma GCC unroll 4
    for (std::size_t n = 0; n < NV; ++n) hn::StoreU(sum[n], f, dv + c + n * lanes);
  }
};

template <class Pass>
void rwkv5_sweep(const Pass& pass) {
  const std::size_t lanes = hn::Lanes(Rwkv5Floats());
  std::size_t c = 0;
  for (; c + 4 * lanes <= pass.stride; c += 4 * lanes) pass.template columns<4>(c);
  for (; c < pass.stride; c += lanes) pass.template columns<1>(c);
}

// sum_i r_i u_i k_i
float rwkv5_bonus(const float* r, const float* u, const float* k, std::size_t N) {
  const Rwkv5Floats f;
  const std::size_t lanes = hn::Lanes(f);
  auto sum = hn::Zero(f);
  std::size_t i = 0;
  for (; i + lanes <= N; i += lanes)
    sum = hn::MulAdd(hn::Mul(hn::LoadU(f, r + i), hn::LoadU(f, u + i)), hn::LoadU(f, k + i), sum);
  float total = hn::GetLane(hn::SumOfLanes(f, sum));
  for (; i < N; ++i) total += r[i] * u[i] * k[i];
  return total;
}

// to += factor * x
void rwkv5_add(const float* x, float factor, std::size_t count, float* to) {
  for_row(count, [=](auto f, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::MulAdd(hn::Set(f, factor), hn::LoadU(f, x + i), hn::LoadU(f, to + i)), f, to + i);
  });
}

void rwkv5_copy(const float* from, std::size_t from_stride, float* to, std::size_t to_stride, std::size_t N) {
  for (std::size_t i = 0; i < N; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, N * sizeof(float));
}

void rwkv5_simd(const Rwkv5Input& in, float* out, const Rwkv5Saved& saved) {
  float* states = saved.states;
  const auto& s = in.shape;
  const std::size_t stride = whole_vectors(s.N, hn::Lanes(Rwkv5Floats()));
  AlignedFloats scratch(3 * kMaxLanes + s.N * stride + 2 * stride);
  float *S = scratch.take(s.N * stride), *v = scratch.take(stride), *read = scratch.take(stride);
  for (std::size_t b = 0; b < s.B; ++b)
    for (std::size_t h = 0; h < s.H; ++h) {
      std::fill(S, S + s.N * stride, 0.0F);
      for (std::size_t t = 0; t < s.L; ++t) {
        const std::size_t at = ((b * s.L + t) * s.H + h) * s.N;
        if (states != nullptr && t % s.kChunk == 0)
          rwkv5_copy(S, stride, states + ((b * s.H + h) * s.chunks() + t / s.kChunk) * s.N * s.N, s.N, s.N);
        std::memcpy(v, in.v + at, s.N * sizeof(float));
        rwkv5_sweep(Rwkv5Advance{s.N, stride, S, in.d + h * s.N, in.r + at, in.k + at, v, read});
        rwkv5_add(v, rwkv5_bonus(in.r + at, in.u + h * s.N, in.k + at, s.N), s.N, read);
        std::memcpy(out + at, read, s.N * sizeof(float));
      }
    }
}

void rwkv5_backward_simd(const Rwkv5Input& in, const Rwkv5Saved& saved, const float* dout, const Rwkv5Gradients& out) {
  const float* states = saved.states;
  const auto& s = in.shape;
  const Rwkv5Floats f;
  const std::size_t lanes = hn::Lanes(f), stride = whole_vectors(s.N, lanes), matrix = s.N * stride;
  AlignedFloats scratch(11 * kMaxLanes + (s.kChunk + 1) * matrix + 3 * stride * lanes + 6 * stride);
  float *past = scratch.take(s.kChunk * matrix), *dS = scratch.take(matrix);
  float *dr_partial = scratch.take(stride * lanes), *dk_partial = scratch.take(stride * lanes);
  float *dd_partial = scratch.take(stride * lanes), *v = scratch.take(stride), *dy = scratch.take(stride);
  float *dr = scratch.take(stride), *dk = scratch.take(stride), *dv = scratch.take(stride),
        *read = scratch.take(stride);
  for (std::size_t h = 0; h < s.H; ++h) {
    const float *d = in.d + h * s.N, *u = in.u + h * s.N;
    float* du = out.du + h * s.N;
    std::fill(du, du + s.N, 0.0F);
    std::fill(dd_partial, dd_partial + stride * lanes, 0.0F);
    for (std::size_t b = 0; b < s.B; ++b) {
      std::fill(dS, dS + matrix, 0.0F);
      for (std::size_t chunk = s.chunks(); chunk-- > 0;) {
        const std::size_t start = chunk * s.kChunk, stop = std::min(start + s.kChunk, s.L);
        rwkv5_copy(states + ((b * s.H + h) * s.chunks() + chunk) * s.N * s.N, s.N, past, stride, s.N);
        for (std::size_t t = start; t + 1 < stop; ++t) {
          const std::size_t at = ((b * s.L + t) * s.H + h) * s.N;
          float* S = past + (t - start) * matrix;
          std::memcpy(v, in.v + at, s.N * sizeof(float));
          std::memcpy(S + matrix, S, matrix * sizeof(float));
          rwkv5_sweep(Rwkv5Advance{s.N, stride, S + matrix, d, in.r + at, in.k + at, v, read});
        }
        for (std::size_t t = stop; t-- > start;) {
          const std::size_t at = ((b * s.L + t) * s.H + h) * s.N;
          const float *r = in.r + at, *k = in.k + at;
          std::memcpy(v, in.v + at, s.N * sizeof(float));
          std::memcpy(dy, dout + at, s.N * sizeof(float));
          rwkv5_sweep(Rwkv5Retreat{s.N, stride, past + (t - start) * matrix, dS, d, r, k, v, dy, dr_partial, dk_partial,
                                   dd_partial, dv});
          row_sums(f, dr_partial, s.N, dr);
          row_sums(f, dk_partial, s.N, dk);
          rwkv5_add(dy, rwkv5_bonus(r, u, k, s.N), s.N, dv);
          const float through = row_dot(f, v, dy, s.N);  // of the bonus
          float *to_dr = out.dr + at, *to_dk = out.dk + at;
          for_row(s.N, [=](auto one, std::size_t i) HWY_ATTR {
            const auto by = hn::Set(one, through), r_i = hn::LoadU(one, r + i), k_i = hn::LoadU(one, k + i);
            const auto u_i = hn::Mul(by, hn::LoadU(one, u + i));
            hn::StoreU(hn::MulAdd(u_i, k_i, hn::LoadU(one, dr + i)), one, to_dr + i);
            hn::StoreU(hn::MulAdd(u_i, r_i, hn::LoadU(one, dk + i)), one, to_dk + i);
            hn::StoreU(hn::MulAdd(hn::Mul(by, r_i), k_i, hn::LoadU(one, du + i)), one, du + i);
          });
          std::memcpy(out.dv + at, dv, s.N * sizeof(float));
        }
      }
    }
    row_sums(f, dd_partial, s.N, dr);
    std::memcpy(out.dd + h * s.N, dr, s.N * sizeof(float));
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(rwkv5_simd);
HWY_EXPORT(rwkv5_backward_simd);

void rwkv5(const Rwkv5Input& in, float* out, const Rwkv5Saved& saved) {
  if (use_reference()) return rwkv5_reference(in, out, saved);
  HWY_DYNAMIC_DISPATCH(rwkv5_simd)(in, out, saved);
}

void rwkv5_backward(const Rwkv5Input& in, const Rwkv5Saved& saved, const float* dout, const Rwkv5Gradients& gradients) {
  if (use_reference()) return rwkv5_backward_reference(in, saved, dout, gradients);
  HWY_DYNAMIC_DISPATCH(rwkv5_backward_simd)(in, saved, dout, gradients);
}

}  // namespace mneme::kernels
#endif
