#include "kernels/attention/attention_layer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::GuardedArray;
using mneme::testing::worst_error;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen on any target: 1.4e-6.
constexpr double kTolerance = 5e-6;

using Backward = std::function<void(const AttentionLayerInput&, const AttentionLayerSaved&, const float*,
                                    const AttentionLayerGradients&)>;

struct Sizes {
  std::size_t B, L, H, D;
  std::vector<std::int64_t> positions;  // none: all
  bool bias = true;
};

Written run(
    decltype(&attention_layer) forward, const Backward& backward, const Sizes& s, std::size_t shift,
    const std::function<void(GuardedArray& x)>& change = [](GuardedArray&) {}) {
  const std::size_t D = s.D, T = s.B * s.L, R = s.positions.empty() ? T : s.positions.size();
  GuardedArray x(T * D, shift), weight_in(3 * D * D, shift), bias_in(3 * D, shift), weight_out(D * D, shift),
      bias_out(D, shift);
  GuardedArray q(R * D, shift), kv(2 * T * D, shift), context(R * D, shift), lse(R * s.H, shift), y(R * D, shift);
  GuardedArray dy(R * D, shift), dx(T * D, shift), dweight_in(3 * D * D, shift), dbias_in(3 * D, shift),
      dweight_out(D * D, shift), dbias_out(D, shift);
  x.fill_normal(1);
  weight_in.fill_normal(2, 1 / std::sqrt(static_cast<double>(D)));
  bias_in.fill_normal(3);
  weight_out.fill_normal(4);
  bias_out.fill_normal(5);
  dy.fill_normal(6);
  // Gradients of weights are added to.
  dweight_in.fill_normal(7);
  dbias_in.fill_normal(8);
  dweight_out.fill_normal(9);
  dbias_out.fill_normal(10);
  change(x);
  AttentionLayerInput in{s.B,
                         s.L,
                         s.H,
                         D,
                         x.data(),
                         weight_in.data(),
                         s.bias ? bias_in.data() : nullptr,
                         weight_out.data(),
                         bias_out.data()};
  if (!s.positions.empty()) in.positions = s.positions.data(), in.R = R;
  const AttentionLayerSaved saved{q.data(), kv.data(), context.data(), lse.data()};
  forward(in, y.data(), saved);
  backward(in, saved, dy.data(),
           {dx.data(), dweight_in.data(), s.bias ? dbias_in.data() : nullptr, dweight_out.data(), dbias_out.data()});
  return written({&y, &dx, &dweight_in, &dbias_in, &dweight_out, &dbias_out}, {&q, &kv, &context, &lse});
}

double error(const Backward& backward, const Sizes& s, std::size_t shift) {
  return worst_error(run(attention_layer, backward, s, shift),
                     run(attention_layer_reference, attention_layer_backward_reference, s, shift));
}

KERNEL_TEST(KernelsAttentionLayer, AgreesWithReference) {
  for (const std::size_t L : {1, 7, 32, 40})
    for (const std::size_t D : {2, 16, 34, 48})
      for (const std::size_t B : {1, 3}) {
        const double found = error(attention_layer_backward, {B, L, 2, D, {}, D != 16}, L % 3);
        EXPECT_LE(found, kTolerance) << B << ' ' << L << ' ' << D;
      }
}

KERNEL_TEST(KernelsAttentionLayer, AgreesWithReferenceOverGroupsOfSequences) {
  // Several groups, the last one smaller; a sequence longer than a group; more tokens than a sum over tokens has at
  // once.
  for (const Sizes& s : {Sizes{7, 100, 1, 16, {}}, Sizes{2, 300, 2, 8, {}}, Sizes{11, 64, 1, 64, {}}}) {
    const double found = error(attention_layer_backward, s, 1);
    EXPECT_LE(found, kTolerance) << s.B << ' ' << s.L << ' ' << s.D;
  }
}

KERNEL_TEST(KernelsAttentionLayer, AgreesWithReferenceAtSomePositions) {
  // Sequences without a row, among them the last; whole groups without one; the first and the last token.
  std::vector<std::int64_t> many;
  for (std::int64_t t = 0; t < 700; t += t % 3 == 0 ? 1 : 7) many.push_back(t);
  for (const std::vector<std::int64_t>& positions : {many, {0}, {699}, {5, 6, 301}, {99, 100, 650}})
    for (const std::size_t D : {8, 33}) {
      const double found = error(attention_layer_backward, {7, 100, 1, D, positions}, D % 3);
      EXPECT_LE(found, kTolerance) << positions.size() << ' ' << D;
    }
}

// A batch of one or of many, all positions or some: the same bits for a token.
KERNEL_TEST(KernelsAttentionLayer, AnOutputDoesNotDependOnTheOtherPositions) {
  const std::size_t D = 16;
  const Sizes all{5, 70, 1, D, {}}, some{5, 70, 1, D, {3, 69, 210, 349}};
  const Written whole = run(attention_layer, attention_layer_backward, all, 0),
                rows = run(attention_layer, attention_layer_backward, some, 0);
  for (std::size_t r = 0; r < some.positions.size(); ++r)
    for (std::size_t i = 0; i < D; ++i)
      EXPECT_EQ(rows.arrays[0][r * D + i], whole.arrays[0][static_cast<std::size_t>(some.positions[r]) * D + i]);
}

KERNEL_TEST(KernelsAttentionLayer, IsCausalToTheBit) {
  const Sizes s{1, 70, 1, 8, {}};
  const Written before = run(attention_layer, attention_layer_backward, s, 0);
  for (const std::size_t t : {std::size_t{1}, std::size_t{31}, std::size_t{69}}) {
    const Written after =
        run(attention_layer, attention_layer_backward, s, 0, [&](GuardedArray& x) { x[t * 8 + 2] += 1; });
    EXPECT_TRUE(std::equal(before.arrays[0].begin(), before.arrays[0].begin() + static_cast<std::ptrdiff_t>(t * 8),
                           after.arrays[0].begin()));
    EXPECT_NE(before.arrays[0][t * 8], after.arrays[0][t * 8]);
  }
}

KERNEL_TEST(KernelsAttentionLayer, PlantedFaultsAreRejected) {
  const Backward forgotten_queries = [](const AttentionLayerInput& in, AttentionLayerSaved saved, const float* dy,
                                        const AttentionLayerGradients& to) {
    std::vector<float> zeros(in.rows() * in.D, 0.0F);
    saved.q = zeros.data();
    attention_layer_backward(in, saved, dy, to);
  };
  const Backward overwritten = [](const AttentionLayerInput& in, const AttentionLayerSaved& saved, const float* dy,
                                  const AttentionLayerGradients& to) {
    std::fill_n(to.dweight_in, 3 * in.D * in.D, 0.0F);
    attention_layer_backward(in, saved, dy, to);
  };
  const Backward no_bias = [](const AttentionLayerInput& in, const AttentionLayerSaved& saved, const float* dy,
                              AttentionLayerGradients to) {
    to.dbias_in = nullptr;
    attention_layer_backward(in, saved, dy, to);
  };
  for (const Backward& wrong : {forgotten_queries, overwritten, no_bias})
    EXPECT_GT(error(wrong, {2, 9, 1, 8, {}}, 0), kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
