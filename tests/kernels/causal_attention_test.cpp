#include "kernels/causal_attention.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/kernel_arrays.h"

namespace mneme::kernels {
namespace {

using mneme::testing::GuardedArray;
using mneme::testing::relative_error;

// The worst error was not recorded. The reference works in double.
constexpr double kTolerance = 1e-5;

using Backward = std::function<void(const AttentionShape&, const float*, const float*, const float*, float*)>;

struct Result {
  std::vector<float> out, lse, dqkv;
  bool margins;
};

Result run(decltype(&causal_attention) forward, const Backward& backward, const AttentionShape& s, std::size_t shift,
           const std::function<void(GuardedArray&)>& change = [](GuardedArray&) {}) {
  const std::size_t n = s.B * s.L * s.H * s.d;
  GuardedArray qkv(3 * n, shift), out(n, shift), lse(s.B * s.H * s.L, shift), dout(n, shift), dqkv(3 * n, shift);
  qkv.fill_normal(1);
  dout.fill_normal(2);
  change(qkv);
  forward(s, qkv.data(), out.data(), lse.data());
  backward(s, qkv.data(), lse.data(), dout.data(), dqkv.data());
  return {out.values(), lse.values(), dqkv.values(), out.margins_intact() && lse.margins_intact() && dqkv.margins_intact()};
}

bool agrees(const Backward& backward, const AttentionShape& s, std::size_t shift) {
  const Result ours = run(causal_attention, backward, s, shift);
  const Result reference = run(causal_attention_reference, causal_attention_backward_reference, s, shift);
  return ours.margins && relative_error(ours.out, reference.out) <= kTolerance &&
         relative_error(ours.lse, reference.lse) <= kTolerance && relative_error(ours.dqkv, reference.dqkv) <= kTolerance;
}

TEST(KernelsCausalAttention, AgreesWithReference) {
  for (const std::size_t L : {1, 2, 5, 15, 16, 17, 31, 32, 33, 64, 65, 100})
    for (const std::size_t d : {1, 4, 7, 16, 33})
      EXPECT_TRUE(agrees(causal_attention_backward, {2, L, 2, d, 0.7F}, L % 3)) << "L " << L << " d " << d;
}

TEST(KernelsCausalAttention, IsCausalToTheBit) {
  const AttentionShape s{1, 70, 1, 8, 0.5F};
  const Result before = run(causal_attention, causal_attention_backward, s, 0);
  for (const std::size_t t : {std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{69}}) {
    const auto change = [&](GuardedArray& qkv) {
      for (std::size_t i = 0; i < 24; ++i) qkv[t * 24 + i] += 3;
    };
    const Result after = run(causal_attention, causal_attention_backward, s, 0, change);
    EXPECT_TRUE(std::equal(before.out.begin(), before.out.begin() + static_cast<std::ptrdiff_t>(t * 8), after.out.begin()));
    EXPECT_NE(before.out[t * 8], after.out[t * 8]);
  }
}

TEST(KernelsCausalAttention, ReferenceGradientIsTheDerivative) {
  const AttentionShape s{1, 4, 1, 3, 0.5F};
  const Result base = run(causal_attention_reference, causal_attention_backward_reference, s, 0);
  GuardedArray dout(12, 0);
  dout.fill_normal(2);
  for (std::size_t i = 0; i < 36; ++i) {
    const auto objective = [&](float by) {
      const Result moved = run(causal_attention_reference, causal_attention_backward_reference, s, 0,
                               [&](GuardedArray& qkv) { qkv[i] += by; });
      double sum = 0;
      for (std::size_t j = 0; j < 12; ++j) sum += static_cast<double>(dout[j]) * moved.out[j];
      return sum;
    };
    EXPECT_NEAR((objective(1e-2F) - objective(-1e-2F)) / 2e-2, base.dqkv[i], 2e-3);
  }
}

TEST(KernelsCausalAttention, PlantedFaultsAreRejected) {
  const AttentionShape s{1, 40, 1, 8, 0.5F};
  const Backward unscaled = [](const AttentionShape& shape, const float* qkv, const float* lse, const float* dout,
                               float* dqkv) {
    AttentionShape other = shape;
    other.scale = 1;
    causal_attention_backward(other, qkv, lse, dout, dqkv);
  };
  const Backward shifted_sums = [](const AttentionShape& shape, const float* qkv, const float* lse, const float* dout,
                                   float* dqkv) {
    std::vector<float> shifted(lse, lse + shape.B * shape.H * shape.L);
    for (float& value : shifted) value += 1e-3F;
    causal_attention_backward(shape, qkv, shifted.data(), dout, dqkv);
  };
  EXPECT_FALSE(agrees(unscaled, s, 0));
  EXPECT_FALSE(agrees(shifted_sums, s, 0));
}

}  // namespace
}  // namespace mneme::kernels
