// The sweeps over a state matrix that make up rwkv7: rows are key channels, lanes are value channels.
// Matrices are [N, stride] with stride a multiple of the vector; vectors of value channels are padded likewise.
#if defined(MNEME_KERNELS_RWKV7_PASSES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MNEME_KERNELS_RWKV7_PASSES_INL
#undef MNEME_KERNELS_RWKV7_PASSES_INL
#else
#define MNEME_KERNELS_RWKV7_PASSES_INL
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Rwkv7Floats = hn::ScalableTag<float>;
using Rwkv7Vector = hn::Vec<Rwkv7Floats>;

// after = diag(decay) before - b p^T + k v^T;  o = after^T r;  p_next = after^T a_next. One visit per token;
// `before` and `after` may be the same matrix.
struct Rwkv7Advance {
  std::size_t N, stride;
  const float* before;
  float* after;
  const float *decay, *b, *p, *k, *v, *r, *a_next;
  float *o, *p_next;

  template <int NV>
  HWY_INLINE void columns(std::size_t c) const {
    const Rwkv7Floats f;
    const std::size_t lanes = hn::Lanes(f);
    Rwkv7Vector past[NV], value[NV], read[NV], recall[NV];
#pragma GCC unroll 4
    for (std::size_t n = 0; n < NV; ++n) {
      past[n] = hn::LoadU(f, p + c + n * lanes);
      value[n] = hn::LoadU(f, v + c + n * lanes);
      read[n] = recall[n] = hn::Zero(f);
    }
    for (std::size_t i = 0; i < N; ++i) {
      const std::size_t row = i * stride + c;
      const auto decay_i = hn::Set(f, decay[i]), b_i = hn::Set(f, b[i]), k_i = hn::Set(f, k[i]);
      const auto r_i = hn::Set(f, r[i]), a_i = hn::Set(f, a_next[i]);
#pragma GCC unroll 4
      for (std::size_t n = 0; n < NV; ++n) {
        auto entry = hn::Mul(decay_i, hn::LoadU(f, before + row + n * lanes));
        entry = hn::MulAdd(k_i, value[n], hn::NegMulAdd(b_i, past[n], entry));
        hn::StoreU(entry, f, after + row + n * lanes);
        read[n] = hn::MulAdd(r_i, entry, read[n]);
        recall[n] = hn::MulAdd(a_i, entry, recall[n]);
      }
    }
#pragma GCC unroll 4
    for (std::size_t n = 0; n < NV; ++n) {
      hn::StoreU(read[n], f, o + c + n * lanes);
      hn::StoreU(recall[n], f, p_next + c + n * lanes);
    }
  }
};

// dS += r dout^T;  dv = dS^T k;  dp = -dS^T b;  and per row the lanes of
// dr = after * dout, dk = dS * v, db = -dS * p, ddecay = dS * before.
struct Rwkv7RetreatUpdate {
  std::size_t N, stride;
  const float *before, *after;
  float* dS;
  const float *r, *k, *b, *dout, *v, *p;
  float *dv, *dp, *dr, *dk, *db, *ddecay;

  template <int NV>
  HWY_INLINE void columns(std::size_t c) const {
    const Rwkv7Floats f;
    const std::size_t lanes = hn::Lanes(f);
    Rwkv7Vector out[NV], value[NV], past[NV], sum_v[NV], sum_p[NV];
#pragma GCC unroll 4
    for (std::size_t n = 0; n < NV; ++n) {
      out[n] = hn::LoadU(f, dout + c + n * lanes);
      value[n] = hn::LoadU(f, v + c + n * lanes);
      past[n] = hn::LoadU(f, p + c + n * lanes);
      sum_v[n] = sum_p[n] = hn::Zero(f);
    }
    for (std::size_t i = 0; i < N; ++i) {
      const std::size_t row = i * stride + c, lane = i * lanes;
      const auto r_i = hn::Set(f, r[i]), k_i = hn::Set(f, k[i]), b_i = hn::Set(f, b[i]);
      auto dr_i = c == 0 ? hn::Zero(f) : hn::LoadU(f, dr + lane), dk_i = c == 0 ? hn::Zero(f) : hn::LoadU(f, dk + lane);
      auto db_i = c == 0 ? hn::Zero(f) : hn::LoadU(f, db + lane);
      auto dd_i = c == 0 ? hn::Zero(f) : hn::LoadU(f, ddecay + lane);
#pragma GCC unroll 4
      for (std::size_t n = 0; n < NV; ++n) {
        const auto entry = hn::MulAdd(r_i, out[n], hn::LoadU(f, dS + row + n * lanes));
        hn::StoreU(entry, f, dS + row + n * lanes);
        dr_i = hn::MulAdd(hn::LoadU(f, after + row + n * lanes), out[n], dr_i);
        dk_i = hn::MulAdd(entry, value[n], dk_i);
        db_i = hn::NegMulAdd(entry, past[n], db_i);
        dd_i = hn::MulAdd(entry, hn::LoadU(f, before + row + n * lanes), dd_i);
        sum_v[n] = hn::MulAdd(k_i, entry, sum_v[n]);
        sum_p[n] = hn::NegMulAdd(b_i, entry, sum_p[n]);
      }
      hn::StoreU(dr_i, f, dr + lane);
      hn::StoreU(dk_i, f, dk + lane);
      hn::StoreU(db_i, f, db + lane);
      hn::StoreU(dd_i, f, ddecay + lane);
    }
#pragma GCC unroll 4
    for (std::size_t n = 0; n < NV; ++n) {
      hn::StoreU(sum_v[n], f, dv + c + n * lanes);
      hn::StoreU(sum_p[n], f, dp + c + n * lanes);
    }
  }
};

// da = lanes of before * dp per row;  dS <- diag(decay) dS + a dp^T.
struct Rwkv7RetreatRecall {
  std::size_t N, stride;
  const float* before;
  float* dS;
  const float *decay, *a, *dp;
  float* da;

  template <int NV>
  HWY_INLINE void columns(std::size_t c) const {
    const Rwkv7Floats f;
    const std::size_t lanes = hn::Lanes(f);
    Rwkv7Vector recall[NV];
#pragma GCC unroll 4
    for (std::size_t n = 0; n < NV; ++n) recall[n] = hn::LoadU(f, dp + c + n * lanes);
    for (std::size_t i = 0; i < N; ++i) {
      const std::size_t row = i * stride + c;
      const auto decay_i = hn::Set(f, decay[i]), a_i = hn::Set(f, a[i]);
      auto da_i = c == 0 ? hn::Zero(f) : hn::LoadU(f, da + i * lanes);
#pragma GCC unroll 4
      for (std::size_t n = 0; n < NV; ++n) {
        da_i = hn::MulAdd(hn::LoadU(f, before + row + n * lanes), recall[n], da_i);
        const auto entry = hn::Mul(decay_i, hn::LoadU(f, dS + row + n * lanes));
        hn::StoreU(hn::MulAdd(a_i, recall[n], entry), f, dS + row + n * lanes);
      }
      hn::StoreU(da_i, f, da + i * lanes);
    }
  }
};

// Runs a pass over all columns, four vectors at a time where possible.
template <class Pass>
void rwkv7_sweep(const Pass& pass) {
  const std::size_t lanes = hn::Lanes(Rwkv7Floats());
  std::size_t c = 0;
  for (; c + 4 * lanes <= pass.stride; c += 4 * lanes) pass.template columns<4>(c);
  for (; c < pass.stride; c += lanes) pass.template columns<1>(c);
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
