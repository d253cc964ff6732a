#include "kernels/scan/rwkv7.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::GuardedArray;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen on any target: 5.2e-7. The reference works in double.
constexpr double kTolerance = 2e-6;

struct Case {
  Rwkv7Shape shape;
  std::size_t shift = 0;
};

struct Arrays {
  GuardedArray r, w, k, v, a, b, out, recalled, states, dout, dr, dw, dk, dv, da, db;
  Rwkv7Input in;

  explicit Arrays(const Case& c)
      : r(c.shape.B * c.shape.L * c.shape.H * c.shape.N, c.shift),
        w(r.size(), c.shift),
        k(r.size(), c.shift),
        v(r.size(), c.shift),
        a(r.size(), c.shift),
        b(r.size(), c.shift),
        out(r.size(), c.shift),
        recalled(r.size(), c.shift),
        states(c.shape.states_size(), c.shift),
        dout(r.size(), c.shift),
        dr(r.size(), c.shift),
        dw(r.size(), c.shift),
        dk(r.size(), c.shift),
        dv(r.size(), c.shift),
        da(r.size(), c.shift),
        db(r.size(), c.shift) {
    std::uint64_t seed = 1;
    // Directions that are read and erased must be short, or the state explodes.
    const double size = 0.7 / std::sqrt(static_cast<double>(c.shape.N));
    for (GuardedArray* array : {&r, &k, &v, &dout}) array->fill_normal(seed++);
    for (GuardedArray* array : {&a, &b}) array->fill_normal(seed++, size);
    w.fill_normal(seed, 0.3);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = -std::abs(w[i]) - 0.1F;
    in = {c.shape, r.data(), w.data(), k.data(), v.data(), a.data(), b.data()};
  }
  Rwkv7Gradients gradients() { return {dr.data(), dw.data(), dk.data(), dv.data(), da.data(), db.data()}; }
};

using Forward = std::function<void(const Rwkv7Input&, float*, const Rwkv7Saved&)>;
using Backward = std::function<void(const Rwkv7Input&, const Rwkv7Saved&, const float*, const Rwkv7Gradients&)>;

Written run(const Forward& forward, const Backward& backward, const Case& c) {
  Arrays a(c);
  const Rwkv7Saved saved{a.recalled.data(), a.states.data()};
  forward(a.in, a.out.data(), saved);
  backward(a.in, saved, a.dout.data(), a.gradients());
  return written({&a.out, &a.dr, &a.dw, &a.dk, &a.dv, &a.da, &a.db}, {&a.states, &a.recalled});
}

double worst(const Forward& forward, const Backward& backward, const Case& c) {
  return worst_error(run(forward, backward, c), run(rwkv7_reference, rwkv7_backward_reference, c));
}

KERNEL_TEST(KernelsRwkv7, AgreesWithReferenceAtEverySizeAndAlignment) {
  for (const std::size_t N : {1, 3, 4, 7, 8, 9, 15, 16, 17, 33, 64})
    for (const std::size_t shift : {0, 1, 5})
      EXPECT_LE(worst(rwkv7, rwkv7_backward, {{2, 5, 2, N}, shift}), kTolerance) << "N = " << N << ", shift " << shift;
}

KERNEL_TEST(KernelsRwkv7, AgreesWithReferenceAtEveryLength) {
  for (const std::size_t L : {1, 2, 31, 32, 33, 70})
    EXPECT_LE(worst(rwkv7, rwkv7_backward, {{2, L, 3, 6}, 1}), kTolerance) << "L = " << L;
}

TEST(KernelsRwkv7, ReferenceGradientsAreDerivatives) {
  // Central differences on float32: the loss is linear in each single input but w, and smooth in that.
  const Case c{{2, 4, 1, 3}};
  const Written base = run(rwkv7_reference, rwkv7_backward_reference, c);
  Arrays a(c);
  const auto forward = [&] { rwkv7_reference(a.in, a.out.data(), {}); };
  expect_derivatives(base, {&a.r, &a.w, &a.k, &a.v, &a.a, &a.b}, a.out, a.dout, forward, 2e-3);
}

KERNEL_TEST(KernelsRwkv7, PlantedFaultsAreRejected) {
  const Case c{{2, 40, 2, 17}};
  const Forward no_erasure = [](const Rwkv7Input& in, float* out, const Rwkv7Saved& saved) {
    const std::vector<float> zeros(in.shape.B * in.shape.L * in.shape.H * in.shape.N);
    auto other = in;
    other.b = zeros.data();
    rwkv7(other, out, saved);
  };
  const Forward skipped_tail = [](const Rwkv7Input& in, float* out, const Rwkv7Saved& saved) {
    rwkv7(in, out, saved);
    out[in.shape.N - 1] = 0;
  };
  const Backward forgotten_states = [](const Rwkv7Input& in, Rwkv7Saved saved, const float* dout,
                                       const Rwkv7Gradients& to) {
    std::vector<float> zeros(in.shape.states_size());
    saved.states = zeros.data();
    rwkv7_backward(in, saved, dout, to);
  };
  const Backward forgotten_recall = [](const Rwkv7Input& in, Rwkv7Saved saved, const float* dout,
                                       const Rwkv7Gradients& to) {
    std::vector<float> zeros(in.shape.B * in.shape.L * in.shape.H * in.shape.N);
    saved.recalled = zeros.data();
    rwkv7_backward(in, saved, dout, to);
  };
  for (const Forward& wrong : {no_erasure, skipped_tail}) EXPECT_GT(worst(wrong, rwkv7_backward, c), kTolerance);
  for (const Backward& wrong : {forgotten_states, forgotten_recall}) EXPECT_GT(worst(rwkv7, wrong, c), kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
