#include "kernels/scan/delta_rule.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::GuardedArray;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen on any target: 6.1e-7. The reference works in double.
constexpr double kTolerance = 2e-6;

struct Case {
  DeltaRuleShape shape;
  bool decay = true, normalise = true;
  std::size_t shift = 0;
};

struct Arrays {
  GuardedArray q, k, v, beta, g, out, errors, states, dout, dq, dk, dv, dbeta, dg;
  DeltaRuleInput in;

  explicit Arrays(const Case& c)
      : q(c.shape.B * c.shape.L * c.shape.H * c.shape.K, c.shift),
        k(q.size() * c.shape.n, c.shift),
        v(c.shape.errors_size(), c.shift),
        beta(v.size() / c.shape.V, c.shift),
        g(beta.size() / c.shape.n, c.shift),
        out(v.size() / c.shape.n, c.shift),
        errors(v.size(), c.shift),
        states(c.shape.states_size(), c.shift),
        dout(out.size(), c.shift),
        dq(q.size(), c.shift),
        dk(k.size(), c.shift),
        dv(v.size(), c.shift),
        dbeta(beta.size(), c.shift),
        dg(g.size(), c.shift) {
    // Without normalisation keys must be short, or the state explodes.
    q.fill_normal(1);
    k.fill_normal(2, c.normalise ? 1.0 : 0.7 / std::sqrt(static_cast<double>(c.shape.K)));
    v.fill_normal(3);
    beta.fill_normal(4, 0.5);
    g.fill_normal(5, 0.3);
    for (std::size_t i = 0; i < beta.size(); ++i) beta[i] = std::min(std::abs(beta[i]), 1.5F);
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = -std::abs(g[i]);
    dout.fill_normal(6);
    in = {c.shape, q.data(), k.data(), v.data(), beta.data(), c.decay ? g.data() : nullptr, 0.25F, c.normalise};
  }
};

using Forward = std::function<void(const DeltaRuleInput&, float*, const DeltaRuleSaved&)>;
using Backward =
    std::function<void(const DeltaRuleInput&, const DeltaRuleSaved&, const float*, const DeltaRuleGradients&)>;

Written run(const Forward& forward, const Backward& backward, const Case& c) {
  Arrays a(c);
  const DeltaRuleSaved saved{a.errors.data(), a.states.data()};
  forward(a.in, a.out.data(), saved);
  backward(a.in, saved, a.dout.data(),
           {a.dq.data(), a.dk.data(), a.dv.data(), a.dbeta.data(), c.decay ? a.dg.data() : nullptr});
  if (c.decay) return written({&a.out, &a.dq, &a.dk, &a.dv, &a.dbeta, &a.dg}, {&a.errors, &a.states});
  return written({&a.out, &a.dq, &a.dk, &a.dv, &a.dbeta}, {&a.dg, &a.errors, &a.states});
}

double worst(const Forward& forward, const Backward& backward, const Case& c) {
  // The decay of the only token acts on an empty state.
  return worst_error(run(forward, backward, c), run(delta_rule_reference, delta_rule_backward_reference, c),
                     [&](std::size_t i) { return i == 5 && c.shape.L == 1; });
}

KERNEL_TEST(KernelsDeltaRule, AgreesWithReferenceAtEverySizeAndAlignment) {
  for (const std::size_t size : {1, 3, 4, 5, 8, 15, 16, 17, 33, 65})
    for (const std::size_t shift : {0, 3}) {
      const std::size_t other = size % 7 + 2;
      // One channel has one direction, whose derivative is a difference of equal numbers.
      EXPECT_LE(worst(delta_rule, delta_rule_backward, {{1, 5, 1, 2, size, other}, true, size > 1, shift}), kTolerance)
          << "K = " << size << ", shift " << shift;
      EXPECT_LE(worst(delta_rule, delta_rule_backward, {{1, 5, 1, 2, other, size}, true, true, shift}), kTolerance)
          << "V = " << size << ", shift " << shift;
    }
}

KERNEL_TEST(KernelsDeltaRule, AgreesWithReferenceAtEveryLengthAndOption) {
  for (const std::size_t L : {1, 2, 15, 16, 17, 32, 33, 70})
    for (const std::size_t n : {1, 2, 3})
      for (const bool decay : {false, true})
        for (const bool normalise : {false, true})
          EXPECT_LE(worst(delta_rule, delta_rule_backward, {{2, L, n, 3, 6, 9}, decay, normalise, 1}), kTolerance)
              << "L = " << L << ", n = " << n << (decay ? ", decay" : "") << (normalise ? ", normalised" : "");
}

KERNEL_TEST(KernelsDeltaRule, OutputsDoNotSeeLaterTokens) {
  const Case c{{1, 40, 2, 1, 8, 24}, true, true, 0};
  Arrays a(c);
  delta_rule(a.in, a.out.data(), {});
  const std::vector<float> before = a.out.values();
  const std::size_t t = 21, V = c.shape.V;
  for (std::size_t i = 0; i < 2 * V; ++i) a.v[t * 2 * V + i] += 1.0F;
  delta_rule(a.in, a.out.data(), {});
  for (std::size_t i = 0; i < t * V; ++i) ASSERT_EQ(before[i], a.out[i]);
  EXPECT_NE(before[t * V], a.out[t * V]);
}

TEST(KernelsDeltaRule, ReferenceGradientsAreDerivatives) {
  // Central differences on float32: steps of 1e-2 leave about 1e-3 of error.
  const Case c{{1, 4, 2, 2, 3, 2}, true, true, 0};
  const Written base = run(delta_rule_reference, delta_rule_backward_reference, c);
  Arrays a(c);
  const auto forward = [&] { delta_rule_reference(a.in, a.out.data(), {}); };
  expect_derivatives(base, {&a.q, &a.k, &a.v, &a.beta, &a.g}, a.out, a.dout, forward, 2e-3);
}

KERNEL_TEST(KernelsDeltaRule, PlantedFaultsAreRejected) {
  const Case c{{2, 40, 2, 2, 8, 17}, true, true, 0};
  const Forward no_decay = [](DeltaRuleInput in, float* out, const DeltaRuleSaved& saved) {
    in.g = nullptr;
    delta_rule(in, out, saved);
  };
  const Forward skipped_tail = [](const DeltaRuleInput& in, float* out, const DeltaRuleSaved& saved) {
    delta_rule(in, out, saved);
    out[in.shape.V - 1] = 0;
  };
  const Backward forgotten_states = [](const DeltaRuleInput& in, DeltaRuleSaved saved, const float* dout,
                                       const DeltaRuleGradients& to) {
    std::vector<float> zeros(in.shape.states_size());
    saved.states = zeros.data();
    delta_rule_backward(in, saved, dout, to);
  };
  const Backward unnormalised = [](const DeltaRuleInput& in, const DeltaRuleSaved& saved, const float* dout,
                                   const DeltaRuleGradients& to) {
    delta_rule_backward(in, saved, dout, to);
    std::fill(to.dq, to.dq + 8, 0.0F);
  };
  for (const Forward& wrong : {no_decay, skipped_tail}) EXPECT_GT(worst(wrong, delta_rule_backward, c), kTolerance);
  for (const Backward& wrong : {forgotten_states, unnormalised}) EXPECT_GT(worst(delta_rule, wrong, c), kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
