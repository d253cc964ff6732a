#include "kernels/scan/selective_scan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan/selective_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/scan/selective_scan_passes-inl.h"
#include "kernels/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

constexpr std::size_t kChunk = kSelectiveScanChunk;

// `count` floats, or a whole vector if there are more; the rest is zero.
HWY_INLINE ScanVector load_some(const float* from, std::size_t count) {
  const ScanFloats d;
  if (count >= hn::Lanes(d)) return hn::LoadU(d, from);
  HWY_ALIGN float whole[kMaxLanes] = {};
  std::memcpy(whole, from, count * sizeof(float));
  return hn::Load(d, whole);
}

HWY_INLINE void store_some(ScanVector values, float* to, std::size_t count) {
  const ScanFloats d;
  if (count >= hn::Lanes(d)) return hn::StoreU(values, d, to);
  HWY_ALIGN float whole[kMaxLanes];
  hn::Store(values, d, whole);
  std::memcpy(to, whole, count * sizeof(float));
}

// States and their like are kept by blocks of `lanes` channels: [Ep / lanes][N][lanes].
std::size_t place(const SelectiveScanInput& in, std::size_t e, std::size_t n) {
  const std::size_t lanes = hn::Lanes(ScanFloats());
  return (e / lanes * in.N + n) * lanes + e % lanes;
}

class Scan {
 public:
  explicit Scan(const SelectiveScanInput& in)
      : in_(in), states_(padded(in.E) * in.N), rates_(states_), slowest_(padded(in.E)) {
    for (std::size_t e = 0; e < in.E; ++e)
      for (std::size_t n = 0; n < in.N; ++n) {
        const float A = in.A[e * in.N + n];
        // Whatever bits a NaN has, scan_decay() must not make a number of them.
        const float rate = std::isnan(A) ? std::numeric_limits<float>::quiet_NaN() : A * 1.44269504F;
        rates_.data()[place(in, e, n)] = rate;
        float& slowest = slowest_.data()[e];
        if (!(rate >= slowest)) slowest = rate;
      }
  }

  std::size_t states() const { return states_; }
  std::size_t chunks() const { return (in_.L + kChunk - 1) / kChunk; }

  // Chunk c of sequence b.
  void take(std::size_t b, std::size_t c) {
    first_ = b * in_.L + c * kChunk;
    block_.steps = std::min(kChunk, in_.L - c * kChunk);
  }

  void forward(float* h, float* y) {
    const ScanFloats d;
    for (std::size_t e = 0; e < in_.E; e += hn::Lanes(d)) {
      load<false>(e);
      for_states(e, [&](auto count, auto deep, std::size_t n, std::size_t at) {
        scan_forward<count(), deep()>(block_, selection(n), rates_ + at, h + at);
      });
      for (std::size_t t = 0, at = 0; t < block_.steps; ++t, at += hn::Lanes(d)) {
        auto out = hn::Load(d, block_.y + at);
        if (in_.z.data) {
          const auto z = load_some(in_.z[first_ + t] + e, in_.E - e);
          out = hn::Mul(out, hn::Mul(z, sigmoid(d, z)));
        }
        store_some(out, y + (first_ + t) * in_.E + e, in_.E - e);
      }
    }
  }

  // g, dA and dD are sums so far of this sequence, in the layout of the states and of padded channels.
  void backward(const float* before, const float* dout, float* g, float* dA, float* dD,
                const SelectiveScanGradients& gradients) {
    const ScanFloats d;
    const std::size_t lanes = hn::Lanes(d);
    std::fill_n(sum_B_.data(), block_.steps * in_.N * lanes, 0.0F);
    std::fill_n(sum_C_.data(), block_.steps * in_.N * lanes, 0.0F);
    for (std::size_t e = 0; e < in_.E; e += lanes) {
      load<true>(e);
      load_output_gradient(dout, e);
      for_states(e, [&](auto count, auto deep, std::size_t n, std::size_t at) {
        const ScanSums sums{sum_B_ + n * lanes, sum_C_ + n * lanes, in_.N * lanes};
        scan_again<count(), deep()>(block_, selection(n), rates_ + at, before + at, kept_, sums);
        scan_back<count()>(block_, selection(n), rates_ + at, kept_, g + at, dA + at, sums);
      });
      store_gradients(e, dD, gradients);
    }
    for (std::size_t i = 0; i < block_.steps * in_.N; ++i) {
      gradients.dBm[first_ * in_.N + i] = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, sum_B_ + i * lanes)));
      gradients.dCm[first_ * in_.N + i] = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, sum_C_ + i * lanes)));
    }
  }

 private:
  ScanSelection selection(std::size_t n) const {
    return {{in_.Bm[first_] + n, in_.Bm.stride}, {in_.Cm[first_] + n, in_.Cm.stride}};
  }

  // Calls visit(how many states, whether decays may vanish, the first state, its place) until all have been visited.
  template <class Visit>
  HWY_INLINE void for_states(std::size_t e, const Visit& visit) {
    if (block_.deep)
      for_states<true>(e, visit);
    else
      for_states<false>(e, visit);
  }
  template <bool deep, class Visit>
  HWY_INLINE void for_states(std::size_t e, const Visit& visit) {
    const std::bool_constant<deep> is_deep;
    std::size_t n = 0;
    for (; n + kScanStates <= in_.N; n += kScanStates)
      visit(std::integral_constant<std::size_t, kScanStates>(), is_deep, n, place(in_, e, n));
    for (; n < in_.N; ++n) visit(std::integral_constant<std::size_t, 1>(), is_deep, n, place(in_, e, n));
  }

  // y starts as D u.
  template <bool with_slope>
  void load(std::size_t e) {
    const ScanFloats d;
    const auto skip = load_some(in_.D + e, in_.E - e), slowest = hn::Load(d, slowest_ + e);
    auto reached = hn::Eq(slowest, slowest);  // NaN: not known
    for (std::size_t t = 0, at = 0; t < block_.steps; ++t, at += hn::Lanes(d)) {
      const auto u = load_some(in_.u[first_ + t] + e, in_.E - e);
      const auto step = softplus(d, load_some(in_.pre[first_ + t] + e, in_.E - e));
      reached = hn::And(reached, hn::Ge(hn::Mul(step.value, slowest), hn::Set(d, kDeepest)));
      hn::Store(u, d, block_.u + at);
      hn::Store(step.value, d, block_.delta + at);
      hn::Store(hn::Mul(step.value, u), d, block_.input + at);
      hn::Store(hn::Mul(skip, u), d, block_.y + at);
      if (with_slope) hn::Store(step.slope, d, block_.slope + at);
    }
    block_.deep = !hn::AllTrue(d, reached);
  }

  void load_output_gradient(const float* all, std::size_t e) {
    const ScanFloats d;
    for (std::size_t t = 0, at = 0; t < block_.steps; ++t, at += hn::Lanes(d)) {
      const auto dout = load_some(all + (first_ + t) * in_.E + e, in_.E - e);
      hn::Store(dout, d, block_.dout + at);
      auto gradient = dout;
      if (in_.z.data) {
        const auto z = load_some(in_.z[first_ + t] + e, in_.E - e);
        gradient = hn::Mul(dout, hn::Mul(z, sigmoid(d, z)));
      }
      hn::Store(gradient, d, block_.dy + at);
      hn::Store(hn::Zero(d), d, block_.q + at);
      hn::Store(hn::Zero(d), d, block_.s + at);
    }
  }

  void store_gradients(std::size_t e, float* dD, const SelectiveScanGradients& gradients) {
    const ScanFloats d;
    const std::size_t count = in_.E - e;
    const auto skip = load_some(in_.D + e, count), one = hn::Set(d, 1.0F), ln2 = hn::Set(d, 0.693147181F);
    auto of_skip = hn::Load(d, dD + e);
    for (std::size_t t = 0, at = 0; t < block_.steps; ++t, at += hn::Lanes(d)) {
      const std::size_t to = (first_ + t) * in_.E + e;
      const auto q = hn::Load(d, block_.q + at), u = hn::Load(d, block_.u + at), dy = hn::Load(d, block_.dy + at);
      store_some(hn::MulAdd(hn::Load(d, block_.delta + at), q, hn::Mul(skip, dy)), gradients.du + to, count);
      const auto of_delta = hn::MulAdd(u, q, hn::Mul(ln2, hn::Load(d, block_.s + at)));
      store_some(hn::Mul(of_delta, hn::Load(d, block_.slope + at)), gradients.dpre + to, count);
      of_skip = hn::MulAdd(dy, u, of_skip);
      if (!in_.z.data) continue;
      const auto z = load_some(in_.z[first_ + t] + e, count), s = sigmoid(d, z);
      const auto slope = hn::Mul(s, hn::MulAdd(z, hn::Sub(one, s), one));
      store_some(hn::Mul(hn::Mul(hn::Load(d, block_.dout + at), hn::Load(d, block_.y + at)), slope), gradients.dz + to,
                 count);
    }
    hn::Store(of_skip, d, dD + e);
  }

  const SelectiveScanInput& in_;
  std::size_t states_, first_ = 0;
  AlignedFloats rates_, slowest_;
  AlignedFloats sum_B_{kChunk * in_.N * kMaxLanes}, sum_C_{kChunk * in_.N * kMaxLanes};
  ScanBlock block_;
  ScanKept kept_;
};

void selective_scan_simd(const SelectiveScanInput& in, float* out, const SelectiveScanSaved& saved) {
  Scan scan(in);
  AlignedFloats h(scan.states());
  for (std::size_t b = 0; b < in.B; ++b) {
    std::fill_n(h.data(), scan.states(), 0.0F);
    for (std::size_t c = 0; c < scan.chunks(); ++c) {
      if (saved.states) {
        float* to = saved.states + (b * scan.chunks() + c) * scan.states();
        std::memcpy(to, h.data(), scan.states() * sizeof(float));
      }
      scan.take(b, c);
      scan.forward(h.data(), out);
    }
  }
}

void selective_scan_backward_simd(const SelectiveScanInput& in, const SelectiveScanSaved& saved, const float* dout,
                                  const SelectiveScanGradients& gradients) {
  Scan scan(in);
  const std::size_t states = scan.states(), channels = padded(in.E);
  AlignedFloats dA(states), dD(channels), g(states), sequence_dA(states), sequence_dD(channels);
  for (std::size_t b = 0; b < in.B; ++b) {
    // Sums of one sequence first: rounding grows with L + B, not with L B.
    std::fill_n(g.data(), states, 0.0F);
    std::fill_n(sequence_dA.data(), states, 0.0F);
    std::fill_n(sequence_dD.data(), channels, 0.0F);
    for (std::size_t c = scan.chunks(); c-- > 0;) {
      scan.take(b, c);
      const float* before = saved.states + (b * scan.chunks() + c) * states;
      scan.backward(before, dout, g.data(), sequence_dA.data(), sequence_dD.data(), gradients);
    }
    for (std::size_t i = 0; i < states; ++i) dA.data()[i] += sequence_dA.data()[i];
    for (std::size_t e = 0; e < in.E; ++e) dD.data()[e] += sequence_dD.data()[e];
  }
  for (std::size_t e = 0; e < in.E; ++e)
    for (std::size_t n = 0; n < in.N; ++n) gradients.dA[e * in.N + n] = dA.data()[place(in, e, n)];
  std::memcpy(gradients.dD, dD.data(), in.E * sizeof(float));
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(selective_scan_simd);
HWY_EXPORT(selective_scan_backward_simd);

void selective_scan(const SelectiveScanInput& in, float* out, const SelectiveScanSaved& saved) {
  if (use_reference()) return selective_scan_reference(in, out, saved);
  HWY_DYNAMIC_DISPATCH(selective_scan_simd)(in, out, saved);
}

void selective_scan_backward(const SelectiveScanInput& in, const SelectiveScanSaved& saved, const float* dout,
                             const SelectiveScanGradients& gradients) {
  if (use_reference()) return selective_scan_backward_reference(in, saved, dout, gradients);
  HWY_DYNAMIC_DISPATCH(selective_scan_backward_simd)(in, saved, dout, gradients);
}

}  // namespace mneme::kernels
#endif
