#include "kernels/dense/gated_norm.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::drawn;
using mneme::testing::GuardedArray;
using mneme::testing::kSizes;
using mneme::testing::weighed;
using mneme::testing::worst_error;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen: 9.8e-7. The reference works in double.
constexpr double kTolerance = 3e-6;
// Large, because the gradient of a single channel vanishes with it.
constexpr float kEps = 0.1F;

using Forward = std::function<void(const GatedNormInput&, float*)>;
using Backward = std::function<void(const GatedNormInput&, const float*, const GatedNormGradients&)>;

enum class Gate { none, after, before };

struct Setting {
  std::size_t T, P, C;
  Gate gate = Gate::after;
  bool weight = true, shared = false;
};

constexpr std::size_t kGateMargin = 5;  // floats between the tokens of the gate

Written run(const Forward& forward, const Backward& backward, const Setting& s, std::size_t shift) {
  const std::size_t size = s.T * s.P * s.C, weights = s.shared ? s.C : s.P * s.C;
  GuardedArray x = drawn(size, shift, 1), gate = drawn(s.T * (s.P * s.C + kGateMargin), shift, 2),
               weight = drawn(weights, shift, 3), dy = drawn(size, shift, 4);
  GuardedArray y(size, shift), dx(size, shift), dgate(size, shift), dweight(weights, shift);
  const bool gated = s.gate != Gate::none;
  const GatedNormInput in{s.T,
                          s.P,
                          s.C,
                          kEps,
                          x.data(),
                          s.weight ? weight.data() : nullptr,
                          s.shared,
                          gated ? Rows{gate.data(), s.P * s.C + kGateMargin} : Rows{},
                          s.gate == Gate::before};
  forward(in, y.data());
  backward(in, dy.data(), {dx.data(), gated ? dgate.data() : nullptr, s.weight ? dweight.data() : nullptr});
  return written({&y, &dx, &dgate, &dweight});
}

double worst(const Forward& forward, const Backward& backward, const Setting& s, std::size_t shift) {
  return worst_error(run(forward, backward, s, shift),
                     run(gated_norm_reference, gated_norm_backward_reference, s, shift));
}

KERNEL_TEST(KernelsGatedNorm, AgreesWithReferenceAtEverySizeAndAlignment) {
  for (const std::size_t C : kSizes)
    for (const Gate gate : {Gate::none, Gate::after, Gate::before})
      for (const bool weight : {true, false})
        for (const bool shared : {true, false}) {
          EXPECT_LE(worst(gated_norm, gated_norm_backward, {3, 2, C, gate, weight, shared}, C % 5), kTolerance)
              << C << " channels, gate " << static_cast<int>(gate) << ", weight " << weight << shared;
        }
}

KERNEL_TEST(KernelsGatedNorm, WeightGradientOverManyTokens) {
  for (const std::size_t T : {63, 64, 65, 200})
    EXPECT_LE(worst(gated_norm, gated_norm_backward, {T, 2, 17, Gate::after, true, true}, 1), kTolerance) << T;
}

TEST(KernelsGatedNorm, ReferenceByHand) {
  const float x[] = {3, 4}, weight[] = {2, 10};
  float y[2];
  // The root of the mean square of (3, 4) is 5 / sqrt(2).
  gated_norm_reference({1, 1, 2, 0.0F, x, weight, true, {}, false}, y);
  EXPECT_NEAR(y[0], 2 * 3 * std::sqrt(2.0) / 5, 1e-6);
  EXPECT_NEAR(y[1], 10 * 4 * std::sqrt(2.0) / 5, 1e-5);
  const float gate[] = {1, -1};
  gated_norm_reference({1, 1, 2, 0.0F, x, nullptr, true, {gate, 2}, false}, y);
  EXPECT_NEAR(y[0], 3 * std::sqrt(2.0) / 5 / (1 + std::exp(-1.0)), 1e-6);
  EXPECT_NEAR(y[1], -4 * std::sqrt(2.0) / 5 / (1 + std::exp(1.0)), 1e-6);
}

TEST(KernelsGatedNorm, ReferenceGradientsAreDerivatives) {
  for (const Gate gate : {Gate::none, Gate::after, Gate::before}) {
    constexpr std::size_t T = 2, P = 2, C = 3, size = T * P * C;
    GuardedArray x = drawn(size, 0, 1), g = drawn(size, 0, 2), weight = drawn(P * C, 0, 3), dy = drawn(size, 0, 4);
    GuardedArray y(size, 0), dx(size, 0), dgate(size, 0), dweight(P * C, 0);
    const GatedNormInput in{T,
                            P,
                            C,
                            kEps,
                            x.data(),
                            weight.data(),
                            false,
                            gate == Gate::none ? Rows{} : Rows{g.data(), P * C},
                            gate == Gate::before};
    gated_norm_backward_reference(in, dy.data(),
                                  {dx.data(), gate == Gate::none ? nullptr : dgate.data(), dweight.data()});
    const auto loss = [&] {
      gated_norm_reference(in, y.data());
      return weighed(y, dy);
    };
    const auto expect_slope = [&](float& value, float gradient) {
      const float kept = value;
      value = kept + 2e-3F;
      const double up = loss();
      value = kept - 2e-3F;
      const double down = loss();
      value = kept;
      EXPECT_NEAR(gradient, (up - down) / 4e-3, 1e-3 * std::max(1.0F, std::abs(gradient)));
    };
    for (std::size_t i = 0; i < size; ++i) expect_slope(x[i], dx[i]);
    for (std::size_t i = 0; i < P * C; ++i) expect_slope(weight[i], dweight[i]);
    if (gate != Gate::none)
      for (std::size_t i = 0; i < size; ++i) expect_slope(g[i], dgate[i]);
  }
}

KERNEL_TEST(KernelsGatedNorm, PlantedFaultsAreRejected) {
  const Setting s{3, 2, 17, Gate::after};
  const Forward skipped_tail = [](const GatedNormInput& in, float* y) {
    gated_norm(in, y);
    y[in.T * in.P * in.C - 1] = 0.0F;
  };
  const Forward no_gate = [](GatedNormInput in, float* y) {
    in.gate = {};
    gated_norm(in, y);
  };
  const Backward other_eps = [](const GatedNormInput& in, const float* dout, const GatedNormGradients& to) {
    GatedNormInput constant = in;
    constant.eps = 0.5F;
    gated_norm_backward(constant, dout, to);
  };
  const Backward no_weight_gradient = [](const GatedNormInput& in, const float* dout, const GatedNormGradients& to) {
    gated_norm_backward(in, dout, to);
    std::fill_n(to.dweight, in.weight_size(), 0.0F);
  };
  EXPECT_GT(worst(skipped_tail, gated_norm_backward, s, 0), kTolerance);
  EXPECT_GT(worst(no_gate, gated_norm_backward, s, 0), kTolerance);
  EXPECT_GT(worst(gated_norm, other_eps, s, 0), kTolerance);
  EXPECT_GT(worst(gated_norm, no_weight_gradient, s, 0), kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
