#include "kernels/scan/token_step.h"

#include <cstring>
#include <limits>

#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan/token_step.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/scan/selective_scan_passes-inl.h"
#include "kernels/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

// Calls visit(tag, i) for all of `count` places: whole vectors, then one by one.
template <class Visit>
HWY_INLINE void over(std::size_t count, const Visit& visit) {
  const ScanFloats wide;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(wide), whole = count - count % lanes;
  for (std::size_t i = 0; i < whole; i += lanes) visit(wide, i);
  for (std::size_t i = whole; i < count; ++i) visit(one, i);
}

// What moves the states of one channel on, which are side by side.
struct Channel {
  const float *A, *Bm, *Cm;
  float delta, input;
};

template <class D>
HWY_INLINE hn::Vec<D> move_states(D d, const Channel& of, hn::Vec<D> A, hn::Vec<D> Bm, hn::Vec<D> h) {
  // 2^(delta A log2 e), as scan_decay() has it; a NaN stays one whatever its bits are.
  const auto nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  const auto rate = hn::Mul(hn::IfThenElse(hn::Eq(A, A), A, nan), hn::Set(d, 1.44269504F));
  const auto decay = scan_decay<true>(hn::Set(d, of.delta), rate);
  return hn::MulAdd(hn::Set(d, of.input), Bm, hn::Mul(decay, h));
}

// Returns sum_n h Cm.
HWY_INLINE float channel_step(std::size_t N, const Channel& of, const float* before, float* after) {
  const ScanFloats d;
  const std::size_t lanes = hn::Lanes(d), whole = N - N % lanes;
  auto sum = hn::Zero(d);
  for (std::size_t n = 0; n < whole; n += lanes) {
    const auto h = move_states(d, of, hn::LoadU(d, of.A + n), hn::LoadU(d, of.Bm + n), hn::LoadU(d, before + n));
    hn::StoreU(h, d, after + n);
    sum = hn::MulAdd(h, hn::LoadU(d, of.Cm + n), sum);
  }
  if (whole < N) {
    const std::size_t bytes = (N - whole) * sizeof(float);
    HWY_ALIGN float A[kMaxLanes] = {}, Bm[kMaxLanes] = {}, Cm[kMaxLanes] = {}, state[kMaxLanes] = {};
    std::memcpy(A, of.A + whole, bytes);
    std::memcpy(Bm, of.Bm + whole, bytes);
    std::memcpy(Cm, of.Cm + whole, bytes);
    std::memcpy(state, before + whole, bytes);
    const auto h = move_states(d, of, hn::Load(d, A), hn::Load(d, Bm), hn::Load(d, state));
    sum = hn::MulAdd(h, hn::Load(d, Cm), sum);
    hn::Store(h, d, state);
    std::memcpy(after + whole, state, bytes);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void selective_step_simd(const SelectiveScanInput& in, const float* before, float* after, float* out) {
  AlignedFloats delta(in.E, kUnset);
  for (std::size_t b = 0; b < in.B; ++b) {
    const float *u = in.u[b], *pre = in.pre[b];
    float* y = out + b * in.E;
    over(in.E, [&](auto d, std::size_t e) { hn::StoreU(softplus(d, hn::LoadU(d, pre + e)).value, d, delta + e); });
    for (std::size_t e = 0; e < in.E; ++e) {
      const std::size_t at = (b * in.E + e) * in.N;
      const Channel of{in.A + e * in.N, in.Bm[b], in.Cm[b], delta[e], delta[e] * u[e]};
      y[e] = channel_step(in.N, of, before + at, after + at) + in.D[e] * u[e];
    }
    if (!in.z.data) continue;
    over(in.E, [&](auto d, std::size_t e) {
      const auto z = hn::LoadU(d, in.z[b] + e);
      hn::StoreU(hn::Mul(hn::LoadU(d, y + e), hn::Mul(z, sigmoid(d, z))), d, y + e);
    });
  }
}

void matrix_step_simd(const MatrixStepInput& in, const float* before, float* after, float* out) {
  for (std::size_t r = 0; r < in.R; ++r) {
    const float *q = in.q + r * in.K, *k = in.k + r * in.K, *v = in.v + r * in.V;
    const float *decay = in.decay ? in.decay + r * in.K : nullptr, *S = before + r * in.K * in.V;
    float *next = after + r * in.K * in.V, *o = out + r * in.V;
    // A strip of values at a time: its sums stay in registers.
    over(in.V, [&](auto d, std::size_t at) {
      auto error = hn::LoadU(d, v + at);
      if (in.beta) {
        auto recalled = hn::Zero(d);
        for (std::size_t i = 0; i < in.K; ++i)
          recalled = hn::MulAdd(hn::Set(d, decay ? k[i] * decay[i] : k[i]), hn::LoadU(d, S + i * in.V + at), recalled);
        error = hn::Mul(hn::Set(d, in.beta[r]), hn::Sub(error, recalled));
      }
      auto read = hn::Zero(d);
      for (std::size_t i = 0; i < in.K; ++i) {
        auto s = hn::LoadU(d, S + i * in.V + at);
        if (decay) s = hn::Mul(s, hn::Set(d, decay[i]));
        s = hn::MulAdd(hn::Set(d, k[i]), error, s);
        hn::StoreU(s, d, next + i * in.V + at);
        read = hn::MulAdd(hn::Set(d, q[i]), s, read);
      }
      hn::StoreU(read, d, o + at);
    });
  }
}

// Moves the states i, i + 1, ... of one channel on and returns what they add to the output, in each lane.
template <class D>
HWY_INLINE hn::Vec<D> move_complex_states(D d, const DiagonalStepInput& in, std::size_t of, std::size_t from, double x,
                                          const float* before, float* after) {
  const hn::Rebind<float, D> single;
  hn::Vec<decltype(single)> s, t;
  hn::LoadInterleaved2(single, before + from, s, t);
  const auto load = [&](const double* coefficients) { return hn::LoadU(d, coefficients + of); };
  const auto token = hn::Set(d, x), old_re = hn::PromoteTo(d, s), old_im = hn::PromoteTo(d, t);
  const auto pole_re = load(in.pole.re), pole_im = load(in.pole.im);
  const auto re = hn::MulAdd(load(in.input.re), token, hn::NegMulAdd(pole_im, old_im, hn::Mul(pole_re, old_re)));
  const auto im = hn::MulAdd(load(in.input.im), token, hn::MulAdd(pole_im, old_re, hn::Mul(pole_re, old_im)));
  hn::StoreInterleaved2(hn::DemoteTo(single, re), hn::DemoteTo(single, im), single, after + from);
  return hn::NegMulAdd(load(in.output.im), im, hn::Mul(load(in.output.re), re));
}

void diagonal_step_simd(const DiagonalStepInput& in, const float* before, float* after, float* out) {
  const hn::ScalableTag<double> wide;
  const hn::CappedTag<double, 1> one;
  const std::size_t lanes = hn::Lanes(wide), whole = in.n - in.n % lanes;
  for (std::size_t row = 0; row < in.B * in.H; ++row) {
    const std::size_t of = row % in.H * in.n, from = 2 * row * in.n;
    const double x = in.x[row];
    auto sum = hn::Zero(wide);
    for (std::size_t i = 0; i < whole; i += lanes)
      sum = hn::Add(sum, move_complex_states(wide, in, of + i, from + 2 * i, x, before, after));
    double y = hn::GetLane(hn::SumOfLanes(wide, sum));
    for (std::size_t i = whole; i < in.n; ++i)
      y += hn::GetLane(move_complex_states(one, in, of + i, from + 2 * i, x, before, after));
    out[row] = static_cast<float>(y);
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(selective_step_simd);
HWY_EXPORT(matrix_step_simd);
HWY_EXPORT(diagonal_step_simd);

void selective_step(const SelectiveScanInput& in, const float* before, float* after, float* out) {
  if (use_reference()) return selective_step_reference(in, before, after, out);
  HWY_DYNAMIC_DISPATCH(selective_step_simd)(in, before, after, out);
}

void matrix_step(const MatrixStepInput& in, const float* before, float* after, float* out) {
  if (use_reference()) return matrix_step_reference(in, before, after, out);
  HWY_DYNAMIC_DISPATCH(matrix_step_simd)(in, before, after, out);
}

void diagonal_step(const DiagonalStepInput& in, const float* before, float* after, float* out) {
  if (use_reference()) return diagonal_step_reference(in, before, after, out);
  HWY_DYNAMIC_DISPATCH(diagonal_step_simd)(in, before, after, out);
}

}  // namespace mneme::kernels
#endif
