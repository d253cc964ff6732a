#include "kernels/scan/wkv.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::GuardedArray;
using mneme::testing::relative_error;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen on any target: 3.7e-6. The reference sums directly, in double.
constexpr double kTolerance = 1e-5;

struct Case {
  std::size_t B, L, C, shift;
  double key_deviation = 2.0;
};

using Forward = std::function<void(const WkvInput&, float*, const WkvSaved&)>;
using Backward = std::function<void(const WkvInput&, const WkvSaved&, const float*, const WkvGradients&)>;

struct Arrays {
  GuardedArray k, v, w, u, out, states, dout, dk, dv, dw, du;

  explicit Arrays(const Case& c)
      : k(c.B * c.L * c.C, c.shift),
        v(k.size(), c.shift),
        w(c.C, c.shift),
        u(c.C, c.shift),
        out(k.size(), c.shift),
        states(WkvInput{c.B, c.L, c.C, {}, {}, {}, {}}.states_size(), c.shift),
        dout(k.size(), c.shift),
        dk(k.size(), c.shift),
        dv(k.size(), c.shift),
        dw(c.C, c.shift),
        du(c.C, c.shift) {
    k.fill_normal(1, c.key_deviation);
    v.fill_normal(2);
    w.fill_normal(3);
    for (std::size_t i = 0; i < c.C; ++i) w[i] = -std::exp(w[i] - 1.0F);
    u.fill_normal(4);
    dout.fill_normal(5);
  }
};

Written run(const Forward& forward, const Backward& backward, const Case& c) {
  Arrays a(c);
  const WkvInput in{c.B, c.L, c.C, a.k.data(), a.v.data(), a.w.data(), a.u.data()};
  forward(in, a.out.data(), {a.states.data()});
  backward(in, {a.states.data()}, a.dout.data(), {a.dk.data(), a.dv.data(), a.dw.data(), a.du.data()});
  return written({&a.out, &a.dk, &a.dv, &a.dw, &a.du}, {&a.states});
}

double worst(const Forward& forward, const Backward& backward, const Case& c) {
  // du and dw of one token are zero up to rounding: nothing to compare relatively.
  return worst_error(run(forward, backward, c), run(wkv_reference, wkv_backward_reference, c),
                     [&](std::size_t i) { return c.L == 1 && i != 0 && i != 2; });
}

KERNEL_TEST(KernelsWkv, AgreesWithReferenceAtEverySizeAndAlignment) {
  for (const std::size_t C : {1, 3, 4, 7, 8, 15, 16, 17, 33, 64})
    for (const std::size_t shift : {0, 1, 5})
      for (const std::size_t L : {std::size_t{1}, std::size_t{2}, kWkvChunk, kWkvChunk + 1, std::size_t{100}})
        EXPECT_LE(worst(wkv, wkv_backward, {2, L, C, shift}), kTolerance)
            << C << " channels, " << L << " tokens, shift " << shift;
}

KERNEL_TEST(KernelsWkv, KeysBeyondTheRangeOfTheExponentialAreFine) {
  // An exponent of some hundreds has 1e-5 of rounding in float32, and so has the exponential. Worst seen: 1.4e-4.
  EXPECT_LE(worst(wkv, wkv_backward, {1, 70, 17, 0, 100.0}), 1e-3);
}

KERNEL_TEST(KernelsWkv, FirstTokenIsItsValue) {
  const Written result = run(wkv, wkv_backward, {1, 1, 20, 0});
  Arrays a({1, 1, 20, 0});
  EXPECT_LE(relative_error(result.arrays[0], a.v.values()), 1e-6);
}

KERNEL_TEST(KernelsWkv, ForwardWithoutStatesIsTheSame) {
  const Case c{2, 40, 19, 1};
  const Forward plain = [](const WkvInput& in, float* out, const WkvSaved& saved) {
    wkv(in, out, saved);
    std::fill(out, out + in.B * in.L * in.C, 0.0F);
    wkv(in, out, {});
  };
  EXPECT_EQ(run(plain, wkv_backward, c).arrays[0], run(wkv, wkv_backward, c).arrays[0]);
}

TEST(KernelsWkv, ReferenceGradientsAreDerivatives) {
  // Central differences on float32: steps of 1e-2 leave about 1e-4 of error.
  const Case c{2, 6, 3, 0, 1.0};
  const Written base = run(wkv_reference, wkv_backward_reference, c);
  Arrays a(c);
  const WkvInput in{c.B, c.L, c.C, a.k.data(), a.v.data(), a.w.data(), a.u.data()};
  const auto forward = [&] { wkv_reference(in, a.out.data(), {}); };
  expect_derivatives(base, {&a.k, &a.v, &a.w, &a.u}, a.out, a.dout, forward, 1e-3);
}

KERNEL_TEST(KernelsWkv, PlantedFaultsAreRejected) {
  const Case c{2, 70, 17, 0};
  const Forward skipped_channel = [](const WkvInput& in, float* out, const WkvSaved& saved) {
    wkv(in, out, saved);
    out[in.C - 1] = 0;
  };
  const Backward forgotten_states = [](const WkvInput& in, const WkvSaved&, const float* dout, const WkvGradients& to) {
    std::vector<float> zeros(in.states_size());
    wkv_backward(in, {zeros.data()}, dout, to);
  };
  const Backward one_sequence = [](WkvInput in, const WkvSaved& saved, const float* dout, const WkvGradients& to) {
    wkv_backward(in, saved, dout, to);
    in.B = 1;  // dw, du of the first sequence alone
    wkv_backward(in, saved, dout, to);
  };
  const Backward zeros = [](const WkvInput& in, const WkvSaved& saved, const float* dout, const WkvGradients& to) {
    wkv_backward(in, saved, dout, to);
    std::fill(to.du, to.du + in.C, 0.0F);
  };
  EXPECT_GT(worst(skipped_channel, wkv_backward, c), kTolerance);
  for (const Backward& wrong : {forgotten_states, one_sequence, zeros}) EXPECT_GT(worst(wkv, wrong, c), kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
