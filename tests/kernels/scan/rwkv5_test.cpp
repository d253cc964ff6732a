#include "kernels/scan/rwkv5.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::GuardedArray;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen on any target: 7.2e-7. The reference works in double.
constexpr double kTolerance = 2e-6;

struct Case {
  Rwkv5Shape shape;
  std::size_t shift = 0;
};

struct Arrays {
  GuardedArray r, k, v, d, u, out, states, dout, dr, dk, dv, dd, du;
  Rwkv5Input in;

  explicit Arrays(const Case& c)
      : r(c.shape.B * c.shape.L * c.shape.H * c.shape.N, c.shift),
        k(r.size(), c.shift),
        v(r.size(), c.shift),
        d(c.shape.H * c.shape.N, c.shift),
        u(d.size(), c.shift),
        out(r.size(), c.shift),
        states(c.shape.states_size(), c.shift),
        dout(r.size(), c.shift),
        dr(r.size(), c.shift),
        dk(r.size(), c.shift),
        dv(r.size(), c.shift),
        dd(d.size(), c.shift),
        du(d.size(), c.shift) {
    std::uint64_t seed = 1;
    for (GuardedArray* array : {&r, &k, &v, &d, &u, &dout}) array->fill_normal(seed++);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::exp(-std::exp(d[i] - 1.0F));
    in = {c.shape, r.data(), k.data(), v.data(), d.data(), u.data()};
  }
  Rwkv5Gradients gradients() { return {dr.data(), dk.data(), dv.data(), dd.data(), du.data()}; }
};

using Forward = std::function<void(const Rwkv5Input&, float*, const Rwkv5Saved&)>;
using Backward = std::function<void(const Rwkv5Input&, const Rwkv5Saved&, const float*, const Rwkv5Gradients&)>;

Written run(const Forward& forward, const Backward& backward, const Case& c) {
  Arrays a(c);
  forward(a.in, a.out.data(), {a.states.data()});
  backward(a.in, {a.states.data()}, a.dout.data(), a.gradients());
  return written({&a.out, &a.dr, &a.dk, &a.dv, &a.dd, &a.du}, {&a.states});
}

double worst(const Forward& forward, const Backward& backward, const Case& c) {
  return worst_error(run(forward, backward, c), run(rwkv5_reference, rwkv5_backward_reference, c));
}

KERNEL_TEST(KernelsRwkv5, AgreesWithReferenceAtEverySizeAndAlignment) {
  for (const std::size_t N : {1, 3, 4, 7, 8, 9, 15, 16, 17, 33, 64})
    for (const std::size_t shift : {0, 1, 5})
      EXPECT_LE(worst(rwkv5, rwkv5_backward, {{2, 5, 2, N}, shift}), kTolerance) << "N = " << N << ", shift " << shift;
}

KERNEL_TEST(KernelsRwkv5, AgreesWithReferenceAtEveryLength) {
  for (const std::size_t L : {1, 2, 31, 32, 33, 70})
    EXPECT_LE(worst(rwkv5, rwkv5_backward, {{2, L, 3, 6}, 1}), kTolerance) << "L = " << L;
}

TEST(KernelsRwkv5, ReferenceGradientsAreDerivatives) {
  // Central differences on float32: the loss is at most quadratic in each input but d, and smooth in that.
  const Case c{{2, 4, 1, 3}};
  const Written base = run(rwkv5_reference, rwkv5_backward_reference, c);
  Arrays a(c);
  const auto forward = [&] { rwkv5_reference(a.in, a.out.data(), {}); };
  expect_derivatives(base, {&a.r, &a.k, &a.v, &a.d, &a.u}, a.out, a.dout, forward, 2e-3);
}

KERNEL_TEST(KernelsRwkv5, PlantedFaultsAreRejected) {
  const Case c{{2, 40, 2, 17}};
  const Forward no_bonus = [](const Rwkv5Input& in, float* out, const Rwkv5Saved& saved) {
    const std::vector<float> zeros(in.shape.H * in.shape.N);
    auto other = in;
    other.u = zeros.data();
    rwkv5(other, out, saved);
  };
  const Forward skipped_tail = [](const Rwkv5Input& in, float* out, const Rwkv5Saved& saved) {
    rwkv5(in, out, saved);
    out[in.shape.N - 1] = 0;
  };
  const Backward forgotten_states = [](const Rwkv5Input& in, const Rwkv5Saved&, const float* dout,
                                       const Rwkv5Gradients& to) {
    std::vector<float> zeros(in.shape.states_size());
    rwkv5_backward(in, {zeros.data()}, dout, to);
  };
  const Backward one_sequence = [](Rwkv5Input in, const Rwkv5Saved& saved, const float* dout,
                                   const Rwkv5Gradients& to) {
    rwkv5_backward(in, saved, dout, to);
    in.shape.B = 1;  // dd, du of the first sequence alone
    rwkv5_backward(in, saved, dout, to);
  };
  for (const Forward& wrong : {no_bonus, skipped_tail}) EXPECT_GT(worst(wrong, rwkv5_backward, c), kTolerance);
  for (const Backward& wrong : {forgotten_states, one_sequence}) EXPECT_GT(worst(rwkv5, wrong, c), kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
