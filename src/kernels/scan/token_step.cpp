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

#if HWY_TARGET == HWY_SCALAR
void diagonal_step_simd(const DiagonalStepInput& in, const float* before, float* after, float* out) {
  diagonal_step_reference(in, before, after, out);
}
#else
// A channel's coefficients for a vector of states, whose real and imaginary parts are side by side.
template <class D>
struct ComplexStates {
  hn::Vec<D> along, across, along_rest, across_rest, input, output;

  HWY_INLINE ComplexStates(D d, const DiagonalStepInput& in, std::size_t at)
      : along(hn::LoadU(d, in.along + at)),
        across(hn::LoadU(d, in.across + at)),
        along_rest(hn::LoadU(d, in.along_rest + at)),
        across_rest(hn::LoadU(d, in.across_rest + at)),
        input(hn::LoadU(d, in.input + at)),
        output(hn::LoadU(d, in.output + at)) {}

  // Moves the states on; returns `sum` with what they add to the output.
  HWY_INLINE hn::Vec<D> move(D d, float x, const float* before, float* after, hn::Vec<D> sum) const {
    const auto s = hn::LoadU(d, before), swapped = hn::Shuffle2301(s);
    // The small terms first: they lose least.
    const auto small = hn::MulAdd(across_rest, swapped, hn::MulAdd(along_rest, s, hn::Mul(input, hn::Set(d, x))));
    const auto next = hn::MulAdd(along, s, hn::MulAdd(across, swapped, small));
    hn::StoreU(next, d, after);
    return hn::MulAdd(output, next, sum);
  }
};

// One channel of kSequences sequences, which share the loads of its coefficients.
template <std::size_t kSequences>
HWY_INLINE void diagonal_channel(const DiagonalStepInput& in, std::size_t h, std::size_t b, const float* before,
                                 float* after, float* out) {
  const ScanFloats wide;
  const hn::CappedTag<float, 2> one;
  const std::size_t count = 2 * in.n, lanes = hn::Lanes(wide), whole = count - count % lanes;
  const auto row = [&](std::size_t j) { return (b + j) * in.H + h; };
  hn::Vec<ScanFloats> sum[kSequences];
  for (auto& each : sum) each = hn::Zero(wide);
  for (std::size_t i = 0; i < whole; i += lanes) {
    const ComplexStates states(wide, in, h * count + i);
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kSequences; ++j) {
      const std::size_t at = row(j) * count + i;
      sum[j] = states.move(wide, in.x[row(j)], before + at, after + at, sum[j]);
    }
  }
  for (std::size_t j = 0; j < kSequences; ++j) {
    float y = hn::GetLane(hn::SumOfLanes(wide, sum[j]));
    for (std::size_t i = whole; i < count; i += 2) {
      const std::size_t at = row(j) * count + i;
      const ComplexStates state(one, in, h * count + i);
      y += hn::GetLane(hn::SumOfLanes(one, state.move(one, in.x[row(j)], before + at, after + at, hn::Zero(one))));
    }
    out[row(j)] = y;
  }
}

void diagonal_step_simd(const DiagonalStepInput& in, const float* before, float* after, float* out) {
  constexpr std::size_t kTogether = 4;
  const std::size_t whole = in.B - in.B % kTogether;
  for (std::size_t b = 0; b < whole; b += kTogether)
    for (std::size_t h = 0; h < in.H; ++h) diagonal_channel<kTogether>(in, h, b, before, after, out);
  for (std::size_t b = whole; b < in.B; ++b)
    for (std::size_t h = 0; h < in.H; ++h) diagonal_channel<1>(in, h, b, before, after, out);
}
#endif

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
