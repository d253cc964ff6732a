#include "kernels/conv/long_conv.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/conv/transformed_conv.h"
#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::drawn;
using mneme::testing::GuardedArray;
using mneme::testing::worst_error;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen: 9.5e-7. The reference sums in double.
constexpr double kTolerance = 3e-6;

using Forward = std::function<void(const LongConvInput&, float*)>;
using Backward = std::function<void(const LongConvInput&, const float*, const LongConvGradients&)>;

Written run(
    const Forward& forward, const Backward& backward, const LongConvShape& sizes, std::size_t shift,
    const std::function<void(GuardedArray& x, GuardedArray& kernel)>& prepare = [](auto&, auto&) {}) {
  const auto [B, L, K, C] = sizes;
  GuardedArray x(B * L * C, shift), kernel(K * C, shift), dy(B * L * C, shift);
  GuardedArray y(B * L * C, shift), dx(B * L * C, shift), dk(K * C, shift);
  x.fill_normal(1);
  kernel.fill_normal(2);
  dy.fill_normal(3);
  prepare(x, kernel);
  const LongConvInput in{sizes, x.data(), kernel.data()};
  forward(in, y.data());
  backward(in, dy.data(), {dx.data(), dk.data()});
  return written({&y, &dx, &dk});
}

bool agrees(const Forward& forward, const Backward& backward, const LongConvShape& sizes, std::size_t shift) {
  return worst_error(run(forward, backward, sizes, shift),
                     run(long_conv_reference, long_conv_backward_reference, sizes, shift)) <= kTolerance;
}

KERNEL_TEST(KernelsLongConv, AgreesWithReferenceAtEverySizeAndAlignment) {
  for (const std::size_t channels : {1, 3, 8, 15, 16, 17, 33})
    for (const std::size_t length : {1, 2, 7, 8, 9, 31, 130})
      for (const std::size_t shift : {0, 1, 7})
        EXPECT_TRUE(agrees(long_conv, long_conv_backward, {2, length, length, channels}, shift))
            << channels << " channels, " << length << " steps, shift " << shift;
}

KERNEL_TEST(KernelsLongConv, KernelMayBeShorterOrLongerThanTheSequence) {
  for (const std::size_t taps : {1, 2, 3, 4, 5, 8, 13, 36, 37, 38, 50})
    EXPECT_TRUE(agrees(long_conv, long_conv_backward, {3, 37, taps, 5}, 0)) << taps << " taps";
}

// Transforms round relative to the largest lag of a channel, so a lone dk that nearly cancels is not judged alone: at
// least three channels.
KERNEL_TEST(KernelsLongConv, TransformsAgreeWithReferenceAtEverySize) {
  for (const std::size_t channels : {3, 15, 16, 17, 33})
    for (const std::size_t length : {1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 130, 257})
      for (const std::size_t taps : {std::size_t{1}, length, length / 2 + 1, length + 3})
        for (const std::size_t batch : {1, 2, 3})
          EXPECT_TRUE(agrees(transformed_conv, transformed_conv_backward, {batch, length, taps, channels}, length % 3))
              << batch << " sequences, " << channels << " channels, " << length << " steps, " << taps << " taps";
}

KERNEL_TEST(KernelsLongConv, ChoosesTransformsForLongSequencesOnly) {
  EXPECT_TRUE(long_conv_is_direct({1, 200, 200, 1}));
  EXPECT_TRUE(long_conv_is_direct({1, 100000, 4, 1}));
  EXPECT_FALSE(long_conv_is_direct({1, 1024, 1024, 1}));
  EXPECT_TRUE(agrees(long_conv, long_conv_backward, {1, 1030, 1030, 3}, 0));
}

KERNEL_TEST(KernelsLongConv, LaterTokensDoNotChangeTheBitsOfEarlierOutputs) {
  const LongConvShape sizes{1, 40, 40, 3};
  const Written before = run(long_conv, long_conv_backward, sizes, 0);
  for (std::size_t t = 0; t < sizes.L; ++t) {
    const auto change = [&](GuardedArray& x, GuardedArray&) { x[t * sizes.C] += 1.0F; };
    const Written after = run(long_conv, long_conv_backward, sizes, 0, change);
    for (std::size_t i = 0; i < t * sizes.C; ++i) ASSERT_EQ(before.arrays[0][i], after.arrays[0][i]) << t;
    EXPECT_NE(before.arrays[0][t * sizes.C], after.arrays[0][t * sizes.C]);
  }
}

TEST(KernelsLongConv, ReferenceGradientsAreDerivatives) {
  const LongConvShape sizes{2, 6, 4, 2};
  const auto [B, L, K, C] = sizes;
  GuardedArray dy(B * L * C, 0);
  dy.fill_normal(3);
  const auto loss = [&](std::size_t which, std::size_t i, float by) {
    const Written result = run(long_conv_reference, long_conv_backward_reference, sizes, 0,
                               [&](GuardedArray& x, GuardedArray& kernel) { (which == 0 ? x : kernel)[i] += by; });
    double sum = 0;
    for (std::size_t n = 0; n < result.arrays[0].size(); ++n) sum += static_cast<double>(result.arrays[0][n]) * dy[n];
    return sum;
  };
  const Written base = run(long_conv_reference, long_conv_backward_reference, sizes, 0);
  // The function is bilinear: central differences have no error but rounding.
  for (std::size_t i = 0; i < B * L * C; ++i)
    EXPECT_NEAR(base.arrays[1][i], (loss(0, i, 0.5F) - loss(0, i, -0.5F)), 1e-5);
  for (std::size_t i = 0; i < K * C; ++i) EXPECT_NEAR(base.arrays[2][i], (loss(1, i, 0.5F) - loss(1, i, -0.5F)), 1e-5);
}

KERNEL_TEST(KernelsLongConv, PlantedFaultsAreRejected) {
  const LongConvShape sizes{2, 33, 33, 17};
  const auto clear = [](const LongConvInput& in, float* y) {
    std::fill_n(y, in.shape.B * in.shape.L * in.shape.C, 0.0F);
  };
  const Forward zeros = clear;
  const Forward lost_tap = [](LongConvInput in, float* y) {
    in.shape.K -= 1;
    long_conv(in, y);
  };
  const Backward last_sequence_only = [](LongConvInput in, const float* dout, const LongConvGradients& to) {
    long_conv_backward(in, dout, to);
    in.shape.B = 1;
    long_conv_backward(in, dout, to);
  };
  const Backward gradients_swapped = [](const LongConvInput& in, const float* dout, const LongConvGradients& to) {
    long_conv_backward(in, dout, to);
    std::swap(to.dkernel[0], to.dkernel[in.shape.C]);
  };
  for (const Forward& wrong : {zeros, lost_tap}) EXPECT_FALSE(agrees(wrong, long_conv_backward, sizes, 0));
  const Forward short_circle = [&](LongConvInput in, float* y) {
    clear(in, y);
    in.shape.L -= 1;
    transformed_conv(in, y);
  };
  EXPECT_FALSE(agrees(short_circle, transformed_conv_backward, sizes, 0));
  for (const Backward& wrong : {last_sequence_only, gradients_swapped})
    EXPECT_FALSE(agrees(long_conv, wrong, sizes, 0));
}

}  // namespace
}  // namespace mneme::kernels
