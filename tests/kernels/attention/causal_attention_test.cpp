#include "kernels/attention/causal_attention.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::GuardedArray;
using mneme::testing::relative_error;

// Worst seen on any target: 2.6e-6. The reference works in double.
constexpr double kTolerance = 8e-6;

using Forward = decltype(&causal_attention);
using Backward = std::function<void(const CausalAttentionInput&, const CausalAttentionSaved&, const float*,
                                    const CausalAttentionGradients&)>;

struct Sizes {
  std::size_t B, L, H, d;
  float scale;
  std::vector<std::int64_t> positions;  // none: all
};

struct Result {
  std::vector<float> out, lse, gradients;  // those of kv, then those of q
  bool margins;
};

Result run(
    Forward forward, const Backward& backward, const Sizes& s, std::size_t shift,
    const std::function<void(GuardedArray&)>& change = [](GuardedArray&) {}) {
  const std::size_t D = s.H * s.d, tokens = s.B * s.L, rows = s.positions.empty() ? tokens : s.positions.size();
  GuardedArray q(rows * D, shift), kv(2 * tokens * D, shift), out(rows * D, shift), lse(rows * s.H, shift),
      dout(rows * D, shift), dq(rows * D, shift), dkv(2 * tokens * D, shift);
  q.fill_normal(1);
  kv.fill_normal(3);
  dout.fill_normal(2);
  change(kv);
  CausalAttentionInput in{s.B, s.L, s.H, s.d, s.scale, {q.data(), D}, {kv.data(), 2 * D}, {kv.data() + D, 2 * D}};
  if (!s.positions.empty()) in.positions = s.positions.data(), in.R = rows;
  forward(in, out.data(), {lse.data()});
  backward(in, {lse.data()}, dout.data(), {dq.data(), D, dkv.data(), dkv.data() + D, 2 * D});
  std::vector<float> gradients = dkv.values();
  const std::vector<float> of_queries = dq.values();
  gradients.insert(gradients.end(), of_queries.begin(), of_queries.end());
  return {out.values(), lse.values(), gradients,
          out.margins_intact() && lse.margins_intact() && dq.margins_intact() && dkv.margins_intact()};
}

double worst_error(const Backward& backward, const Sizes& s, std::size_t shift) {
  const Result ours = run(causal_attention, backward, s, shift);
  const Result reference = run(causal_attention_reference, causal_attention_backward_reference, s, shift);
  if (!ours.margins) return INFINITY;
  return std::max({relative_error(ours.out, reference.out), relative_error(ours.lse, reference.lse),
                   relative_error(ours.gradients, reference.gradients)});
}

KERNEL_TEST(KernelsCausalAttention, AgreesWithReference) {
  for (const std::size_t L : {1, 2, 5, 15, 16, 17, 31, 32, 33, 64, 65, 100})
    for (const std::size_t d : {1, 4, 7, 16, 33}) {
      const double error = worst_error(causal_attention_backward, {2, L, 2, d, 0.7F, {}}, L % 3);
      EXPECT_LE(error, kTolerance) << "L " << L << " d " << d;
    }
}

KERNEL_TEST(KernelsCausalAttention, AgreesWithReferenceAtSomePositions) {
  // The first token, a whole sequence, none of the third one, more than a block of the last one.
  std::vector<std::int64_t> many = {0, 3, 39};
  for (std::int64_t t = 40; t < 80; ++t) many.push_back(t);
  for (std::int64_t t = 121; t < 160; ++t) many.push_back(t);
  for (const std::size_t d : {1, 8, 33})
    for (const auto& positions : {many, {7}, {159}, {0, 40, 80, 120}, {5, 6, 130}}) {
      const double error = worst_error(causal_attention_backward, {4, 40, 2, d, 0.7F, positions}, d % 3);
      EXPECT_LE(error, kTolerance) << "d " << d << ", " << positions.size() << " rows";
    }
}

KERNEL_TEST(KernelsCausalAttention, IsCausalToTheBit) {
  const Sizes s{1, 70, 1, 8, 0.5F, {}};
  const Result before = run(causal_attention, causal_attention_backward, s, 0);
  for (const std::size_t t : {std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{69}}) {
    const auto change = [&](GuardedArray& kv) {
      for (std::size_t i = 0; i < 16; ++i) kv[t * 16 + i] += 3;
    };
    const Result after = run(causal_attention, causal_attention_backward, s, 0, change);
    EXPECT_TRUE(
        std::equal(before.out.begin(), before.out.begin() + static_cast<std::ptrdiff_t>(t * 8), after.out.begin()));
    EXPECT_NE(before.out[t * 8], after.out[t * 8]);
  }
}

TEST(KernelsCausalAttention, ReferenceGradientIsTheDerivative) {
  const Sizes s{1, 4, 1, 3, 0.5F, {}};
  const Result base = run(causal_attention_reference, causal_attention_backward_reference, s, 0);
  GuardedArray dout(12, 0);
  dout.fill_normal(2);
  for (std::size_t i = 0; i < 24; ++i) {
    const auto objective = [&](float by) {
      const Result moved = run(causal_attention_reference, causal_attention_backward_reference, s, 0,
                               [&](GuardedArray& kv) { kv[i] += by; });
      double sum = 0;
      for (std::size_t j = 0; j < 12; ++j) sum += static_cast<double>(dout[j]) * moved.out[j];
      return sum;
    };
    EXPECT_NEAR((objective(1e-2F) - objective(-1e-2F)) / 2e-2, base.gradients[i], 2e-3);
  }
}

KERNEL_TEST(KernelsCausalAttention, PlantedFaultsAreRejected) {
  const Sizes s{1, 40, 1, 8, 0.5F, {}};
  const Backward unscaled = [](const CausalAttentionInput& in, const CausalAttentionSaved& saved, const float* dout,
                               const CausalAttentionGradients& to) {
    CausalAttentionInput other = in;
    other.scale = 1;
    causal_attention_backward(other, saved, dout, to);
  };
  const Backward shifted_sums = [](const CausalAttentionInput& in, const CausalAttentionSaved& saved, const float* dout,
                                   const CausalAttentionGradients& to) {
    std::vector<float> shifted(saved.lse, saved.lse + in.rows() * in.H);
    for (float& value : shifted) value += 1e-3F;
    causal_attention_backward(in, {shifted.data()}, dout, to);
  };
  EXPECT_GT(worst_error(unscaled, s, 0), kTolerance);
  EXPECT_GT(worst_error(shifted_sums, s, 0), kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
