#include "kernels/cells/nru_cell.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::drawn;
using mneme::testing::expect_faults_rejected;
using mneme::testing::GuardedArray;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen on any target: 8.0e-7. The references work in double.
constexpr double kTolerance = 3e-6;
constexpr std::size_t kRows = 3;

Written hidden(const NruShape& sizes, std::size_t shift, bool norm, bool reference) {
  const std::size_t H = sizes.H, W = sizes.state();
  GuardedArray p = drawn(kRows * H, shift, 1), old = drawn(kRows * W, shift, 2), dq = drawn(kRows * W, shift, 3);
  GuardedArray gain = drawn(H, shift, 4), bias = drawn(H, shift, 5);
  GuardedArray q(kRows * W, shift), dp(kRows * H, shift), dold(kRows * W, shift);
  GuardedArray dgain(H, shift, 0.5F), dbias(H, shift, 0.5F);
  const NruHiddenInput in{sizes, p.data(), old.data(), norm ? gain.data() : nullptr, norm ? bias.data() : nullptr};
  (reference ? nru_hidden_reference : nru_hidden)(in, q.data());
  (reference ? nru_hidden_backward_reference : nru_hidden_backward)(
      in, q.data(), dq.data(), {dp.data(), dold.data(), norm ? dgain.data() : nullptr, norm ? dbias.data() : nullptr});
  return written({&q, &dp, &dold, &dgain, &dbias});
}

Written memory(const NruShape& sizes, std::size_t shift, bool relu, bool reference) {
  const std::size_t W = sizes.state(), G = sizes.outputs();
  GuardedArray o = drawn(kRows * G, shift, 1), q = drawn(kRows * W, shift, 2), dnext = drawn(kRows * W, shift, 3);
  GuardedArray next(kRows * W, shift), d_o(kRows * G, shift);
  const NruMemoryInput in{sizes, relu, o.data(), q.data()};
  (reference ? nru_memory_reference : nru_memory)(in, next.data());
  (reference ? nru_memory_backward_reference : nru_memory_backward)(in, dnext.data(), d_o.data());
  return written({&next, &d_o});
}

Written plain(const NruShape& sizes, std::size_t shift, bool reference) {
  const std::size_t W = sizes.state(), G = sizes.H + 2 + 2 * sizes.M;
  GuardedArray o = drawn(kRows * G, shift, 1), old = drawn(kRows * W, shift, 2), dnext = drawn(kRows * W, shift, 3);
  GuardedArray next(kRows * W, shift), d_o(kRows * G, shift), dold(kRows * W, shift);
  const NruPlainInput in{sizes, o.data(), old.data()};
  (reference ? nru_plain_reference : nru_plain)(in, next.data());
  (reference ? nru_plain_backward_reference : nru_plain_backward)(in, dnext.data(), {d_o.data(), dold.data()});
  return written({&next, &d_o, &dold});
}

bool agrees(const Written& ours, const Written& reference) { return worst_error(ours, reference) <= kTolerance; }

struct Memory {
  std::size_t M, k, side;
};
constexpr Memory kMemories[] = {{1, 1, 1},  {4, 1, 2},  {9, 1, 3},   {2, 8, 4},
                                {16, 4, 8}, {64, 1, 8}, {64, 4, 16}, {289, 1, 17}};

KERNEL_TEST(KernelsNruCell, HiddenAgreesWithReference) {
  for (const std::size_t H : mneme::testing::kSizes)
    for (const std::size_t shift : {0, 3})
      for (const bool norm : {false, true}) {
        if (norm && H == 2) continue;  // normalised they are -1 and 1: the gradient is nothing but rounding
        const NruShape sizes{kRows, H, 5, 1, 1};
        EXPECT_TRUE(agrees(hidden(sizes, shift, norm, false), hidden(sizes, shift, norm, true))) << H << " " << norm;
      }
}

KERNEL_TEST(KernelsNruCell, MemoryAgreesWithReference) {
  for (const auto& [M, k, side] : kMemories)
    for (const std::size_t shift : {0, 3})
      for (const bool relu : {false, true}) {
        const NruShape sizes{kRows, 3, M, k, side};
        EXPECT_TRUE(agrees(memory(sizes, shift, relu, false), memory(sizes, shift, relu, true)))
            << "M = " << M << ", k = " << k << ", relu " << relu;
      }
}

KERNEL_TEST(KernelsNruCell, PlainAgreesWithReference) {
  for (const std::size_t H : mneme::testing::kSizes)
    for (const std::size_t shift : {0, 3}) {
      const NruShape sizes{kRows, H, H + 1, 1, 0};
      EXPECT_TRUE(agrees(plain(sizes, shift, false), plain(sizes, shift, true))) << H;
    }
}

// Without care |v|^5 underflows in float32 below 1e-9.
KERNEL_TEST(KernelsNruCell, SmallVectorsAreNormalised) {
  const NruShape sizes{1, 1, 4, 1, 2};
  std::vector<float> o = {1.0F, 0.0F, 1e-6F, 1e-6F, 1e-5F, 1e-5F, 1.0F, 1.0F, 1.0F, 1.0F}, q(5, 0.0F), next(5);
  nru_memory({sizes, false, o.data(), q.data()}, next.data());
  for (std::size_t i = 1; i < 5; ++i) EXPECT_NEAR(next[i], std::pow(4.0, -0.2), 1e-6);
}

KERNEL_TEST(KernelsNruCell, DeadRowsHaveNoGradient) {
  const NruShape sizes{1, 1, 4, 1, 2};
  for (const auto kernel : {nru_memory_backward, nru_memory_backward_reference}) {
    // Both outer products are negative everywhere.
    std::vector<float> o = {1.0F, 1.0F, 1.0F, 2.0F, -1.0F, -2.0F, 1.0F, 2.0F, -1.0F, -2.0F}, dnext(5, 1.0F);
    std::vector<float> d_o(10, mneme::testing::kPoison);
    kernel({sizes, true, o.data(), nullptr}, dnext.data(), d_o.data());
    for (const float g : d_o) EXPECT_EQ(g, 0.0F);
  }
}

TEST(KernelsNruCell, ReferenceGradientsAreDerivatives) {
  constexpr double kStep = 1e-3;
  const NruShape sizes{1, 3, 4, 1, 2};
  const std::vector<float> weights = {0.3F, -1.2F, 0.8F, 0.5F, -0.7F, 1.1F, 0.4F};
  const auto weighed = [&](const std::vector<float>& row) {
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i) sum += static_cast<double>(row[i]) * weights[i];
    return sum;
  };
  const auto slope = [&](std::vector<float> at, std::size_t i, const auto& loss) {
    std::vector<float> down = at;
    at[i] += static_cast<float>(kStep);
    down[i] -= static_cast<float>(kStep);
    return (loss(at) - loss(down)) / (static_cast<double>(at[i]) - down[i]);
  };
  const std::vector<float> state(7, 0.2F);
  for (const bool relu : {false, true}) {
    const std::vector<float> o = {0.6F, 0.9F, 0.5F, 0.8F, 1.2F, 0.7F, 1.1F, 0.6F, 0.9F, 1.3F};
    const auto loss = [&](const std::vector<float>& v) {
      std::vector<float> next(7);
      nru_memory_reference({sizes, relu, v.data(), state.data()}, next.data());
      return weighed(next);
    };
    std::vector<float> d_o(10);
    nru_memory_backward_reference({sizes, relu, o.data(), nullptr}, weights.data(), d_o.data());
    for (std::size_t i = 0; i < o.size(); ++i) EXPECT_NEAR(d_o[i], slope(o, i, loss), 2e-3) << i;
  }
  const std::vector<float> p = {0.4F, -0.3F, 0.9F}, gain = {1.2F, 0.7F, -0.5F}, shift = {0.1F, 1.5F, 0.9F};
  const auto loss = [&](const std::vector<float>& v) {
    std::vector<float> q(7);
    nru_hidden_reference({sizes, v.data(), state.data(), gain.data(), shift.data()}, q.data());
    return weighed(q);
  };
  std::vector<float> q(7), dp(3), dold(7), dgain(3), dshift(3);
  const NruHiddenInput in{sizes, p.data(), state.data(), gain.data(), shift.data()};
  nru_hidden_reference(in, q.data());
  nru_hidden_backward_reference(in, q.data(), weights.data(), {dp.data(), dold.data(), dgain.data(), dshift.data()});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(dp[i], slope(p, i, loss), 2e-3) << i;
}

KERNEL_TEST(KernelsNruCell, PlantedFaultsAreRejected) {
  const NruShape sizes{kRows, 9, 16, 4, 8};
  for (const Written& right : {hidden(sizes, 0, true, true), memory(sizes, 0, false, true), plain(sizes, 0, true)})
    expect_faults_rejected(right, [&](const Written& ours) { return agrees(ours, right); });
  // One head of four forgotten in the mean.
  const NruShape fewer{kRows, 9, 16, 1, 4};
  EXPECT_FALSE(agrees(memory(fewer, 0, false, false), memory(sizes, 0, false, true)));
}

}  // namespace
}  // namespace mneme::kernels
