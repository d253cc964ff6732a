// The sweeps over a state matrix that make up delta_rule: rows are key channels, lanes are value channels.
// Matrices are [K, stride] with stride a multiple of the vector; vectors of value channels are padded likewise.
#if defined(MNEME_KERNELS_DELTA_RULE_PASSES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MNEME_KERNELS_DELTA_RULE_PASSES_INL
#undef MNEME_KERNELS_DELTA_RULE_PASSES_INL
#else
#define MNEME_KERNELS_DELTA_RULE_PASSES_INL
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using DeltaFloats = hn::ScalableTag<float>;
using DeltaVector = hn::Vec<DeltaFloats>;

// S <- decay (S + k_before step_before^T);  Sk = S^T k;  Sq = S^T q if kRead. One visit to S per sub-step.
struct DeltaAdvance {
  std::size_t K, stride;
  float* S;
  float decay;
  const float *k_before, *step_before, *k, *q;
  float *Sk, *Sq;

  template <int NV, bool kRead, bool kDecay>
  HWY_INLINE void columns(std::size_t c) const {
    const DeltaFloats d;
    const std::size_t lanes = hn::Lanes(d);
    const auto factor = hn::Set(d, decay);
    DeltaVector step[NV], sum_k[NV], sum_q[NV];
#pragma GCC unroll 4
    for (int n = 0; n < NV; ++n) {
      step[n] = hn::LoadU(d, step_before + c + static_cast<std::size_t>(n) * lanes);
      sum_k[n] = sum_q[n] = hn::Zero(d);
    }
    for (std::size_t i = 0; i < K; ++i) {
      float* row = S + i * stride + c;
      const auto along = hn::Set(d, kDecay ? decay * k_before[i] : k_before[i]);
      const auto k_i = hn::Set(d, k[i]), q_i = hn::Set(d, kRead ? q[i] : 0.0F);
#pragma GCC unroll 4
      for (int n = 0; n < NV; ++n) {
        auto entry = hn::LoadU(d, row + static_cast<std::size_t>(n) * lanes);
        if (kDecay) entry = hn::Mul(entry, factor);
        entry = hn::MulAdd(along, step[n], entry);
        hn::StoreU(entry, d, row + static_cast<std::size_t>(n) * lanes);
        sum_k[n] = hn::MulAdd(k_i, entry, sum_k[n]);
        if (kRead) sum_q[n] = hn::MulAdd(q_i, entry, sum_q[n]);
      }
    }
#pragma GCC unroll 4
    for (int n = 0; n < NV; ++n) {
      hn::StoreU(sum_k[n], d, Sk + c + static_cast<std::size_t>(n) * lanes);
      if (kRead) hn::StoreU(sum_q[n], d, Sq + c + static_cast<std::size_t>(n) * lanes);
    }
  }
};

// dS += q dout^T if kRead;  dstep = dS^T k;  dk_partial[i] = lanes of dS_i * step (+ what other columns left).
struct DeltaRetreatStep {
  std::size_t K, stride;
  float* dS;
  const float *q, *dout, *k, *step;
  float *dstep, *dk_partial;

  template <int NV, bool kRead, bool kDecay>
  HWY_INLINE void columns(std::size_t c) const {
    const DeltaFloats d;
    const std::size_t lanes = hn::Lanes(d);
    DeltaVector read[NV], added[NV], sum[NV];
#pragma GCC unroll 4
    for (int n = 0; n < NV; ++n) {
      if (kRead) read[n] = hn::LoadU(d, dout + c + static_cast<std::size_t>(n) * lanes);
      added[n] = hn::LoadU(d, step + c + static_cast<std::size_t>(n) * lanes);
      sum[n] = hn::Zero(d);
    }
    for (std::size_t i = 0; i < K; ++i) {
      float* row = dS + i * stride + c;
      const auto k_i = hn::Set(d, k[i]), q_i = hn::Set(d, kRead ? q[i] : 0.0F);
      auto partial = c == 0 ? hn::Zero(d) : hn::LoadU(d, dk_partial + i * lanes);
#pragma GCC unroll 4
      for (int n = 0; n < NV; ++n) {
        auto entry = hn::LoadU(d, row + static_cast<std::size_t>(n) * lanes);
        if (kRead) {
          entry = hn::MulAdd(q_i, read[n], entry);
          hn::StoreU(entry, d, row + static_cast<std::size_t>(n) * lanes);
        }
        sum[n] = hn::MulAdd(k_i, entry, sum[n]);
        partial = hn::MulAdd(entry, added[n], partial);
      }
      hn::StoreU(partial, d, dk_partial + i * lanes);
    }
#pragma GCC unroll 4
    for (int n = 0; n < NV; ++n) hn::StoreU(sum[n], d, dstep + c + static_cast<std::size_t>(n) * lanes);
  }
};

// dk_partial[i] -= S_i * de;  dq_partial[i] = S_i * dout if kRead;  dS -= k de^T;
// with kDecay also dg_partial += dS * S and dS <- decay dS. S is the state before the sub-step.
struct DeltaRetreatError {
  std::size_t K, stride;
  const float* S;
  float* dS;
  float decay;
  const float *k, *de, *dout;
  float *dk_partial, *dq_partial, *dg_partial;

  template <int NV, bool kRead, bool kDecay>
  HWY_INLINE void columns(std::size_t c) const {
    const DeltaFloats d;
    const std::size_t lanes = hn::Lanes(d);
    const auto factor = hn::Set(d, decay);
    auto dg = kDecay ? hn::LoadU(d, dg_partial) : hn::Zero(d);
    DeltaVector read[NV], error[NV];
#pragma GCC unroll 4
    for (int n = 0; n < NV; ++n) {
      if (kRead) read[n] = hn::LoadU(d, dout + c + static_cast<std::size_t>(n) * lanes);
      error[n] = hn::LoadU(d, de + c + static_cast<std::size_t>(n) * lanes);
    }
    for (std::size_t i = 0; i < K; ++i) {
      const float* state = S + i * stride + c;
      float* row = dS + i * stride + c;
      const auto k_i = hn::Set(d, k[i]);
      auto dk = hn::LoadU(d, dk_partial + i * lanes);
      auto dq = !kRead || c == 0 ? hn::Zero(d) : hn::LoadU(d, dq_partial + i * lanes);
#pragma GCC unroll 4
      for (int n = 0; n < NV; ++n) {
        const auto past = hn::LoadU(d, state + static_cast<std::size_t>(n) * lanes);
        dk = hn::NegMulAdd(past, error[n], dk);
        if (kRead) dq = hn::MulAdd(past, read[n], dq);
        auto entry = hn::NegMulAdd(k_i, error[n], hn::LoadU(d, row + static_cast<std::size_t>(n) * lanes));
        if (kDecay) {
          dg = hn::MulAdd(entry, past, dg);
          entry = hn::Mul(entry, factor);
        }
        hn::StoreU(entry, d, row + static_cast<std::size_t>(n) * lanes);
      }
      hn::StoreU(dk, d, dk_partial + i * lanes);
      if (kRead) hn::StoreU(dq, d, dq_partial + i * lanes);
    }
    if (kDecay) hn::StoreU(dg, d, dg_partial);
  }
};

template <bool kRead, bool kDecay, class Pass>
HWY_INLINE void delta_all_columns(const Pass& pass) {
  const std::size_t lanes = hn::Lanes(DeltaFloats());
  std::size_t c = 0;
  for (; c + 4 * lanes <= pass.stride; c += 4 * lanes) pass.template columns<4, kRead, kDecay>(c);
  for (; c + 2 * lanes <= pass.stride; c += 2 * lanes) pass.template columns<2, kRead, kDecay>(c);
  for (; c < pass.stride; c += lanes) pass.template columns<1, kRead, kDecay>(c);
}

// Runs a pass over all columns, four vectors at a time where possible.
template <class Pass>
void delta_sweep(const Pass& pass, bool read, bool decay) {
  if (read && decay)
    delta_all_columns<true, true>(pass);
  else if (read)
    delta_all_columns<true, false>(pass);
  else if (decay)
    delta_all_columns<false, true>(pass);
  else
    delta_all_columns<false, false>(pass);
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
