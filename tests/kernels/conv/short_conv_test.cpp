#include "kernels/conv/short_conv.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::drawn;
using mneme::testing::expect_derivatives;
using mneme::testing::GuardedArray;
using mneme::testing::worst_error;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen: 1.3e-6.
constexpr double kTolerance = 2e-6;

using Forward = decltype(&short_conv);
using Backward = std::function<void(const ShortConvShape&, const float*, const float*, const float*, const float*,
                                    const ShortConvGradients&)>;

Written run(Forward forward, const Backward& backward, const ShortConvShape& s, std::size_t shift) {
  GuardedArray x(s.B * s.L * s.stride, shift), weight(s.C * s.W, shift), bias(s.C, shift), dy(s.B * s.L * s.C, shift);
  GuardedArray y(s.B * s.L * s.C, shift), dx(s.B * s.L * s.C, shift), dweight(s.C * s.W, shift), dbias(s.C, shift);
  x.fill_normal(1);
  weight.fill_normal(2);
  bias.fill_normal(3);
  dy.fill_normal(4);
  forward(s, x.data(), weight.data(), bias.data(), y.data());
  backward(s, x.data(), weight.data(), bias.data(), dy.data(), {dx.data(), dweight.data(), dbias.data()});
  return written({&y, &dx, &dweight, &dbias});
}

double error(const Backward& backward, const ShortConvShape& s, std::size_t shift) {
  return worst_error(run(short_conv, backward, s, shift),
                     run(short_conv_reference, short_conv_backward_reference, s, shift));
}

KERNEL_TEST(KernelsShortConv, AgreesWithReference) {
  for (const std::size_t C : {1, 3, 8, 15, 16, 17, 33})
    for (const std::size_t L : {1, 2, 3, 5, 20})
      for (const std::size_t W : {1, 2, 3, 4, 5, 7})
        for (const std::size_t ahead : {std::size_t{0}, (W - 1) / 2})
          for (const bool silu : {false, true}) {
            // With SiLU also a slice of more channels.
            const double one = error(short_conv_backward, {2, L, C, W, ahead, silu, silu ? C + 5 : C}, C % 3);
            EXPECT_LE(one, kTolerance) << "C " << C << " L " << L << " W " << W << " ahead " << ahead << ' ' << silu;
          }
}

Written run_steps(decltype(&short_conv_step) step, const ShortConvShape& s, std::size_t shift) {
  GuardedArray x = drawn(s.B * s.stride, shift, 1), weight = drawn(s.C * s.W, shift, 2), bias = drawn(s.C, shift, 3),
               window = drawn(s.B * (s.W - 1) * s.C, shift, 4), next(window.size(), shift), y(s.B * s.C, shift);
  step(s, window.data(), x.data(), weight.data(), bias.data(), next.data(), y.data());
  return written({&y, &next}, {&window});
}

KERNEL_TEST(KernelsShortConv, OneTokenAgreesWithReference) {
  for (const std::size_t C : {1, 3, 8, 15, 16, 17, 33})
    for (const std::size_t W : {1, 2, 3, 4, 7})
      for (const bool silu : {false, true}) {
        const ShortConvShape s{3, 1, C, W, 0, silu, silu ? C + 5 : C};
        EXPECT_LE(worst_error(run_steps(short_conv_step, s, C % 3), run_steps(short_conv_step_reference, s, C % 3)),
                  kTolerance)
            << "C " << C << " W " << W << ' ' << silu;
      }
}

KERNEL_TEST(KernelsShortConv, TokenByTokenIsTheSameAsAWholeSequence) {
  constexpr std::size_t L = 6, C = 5, W = 4;
  GuardedArray x = drawn(L * C, 0, 1), weight = drawn(C * W, 0, 2), bias = drawn(C, 0, 3), y(L * C, 0), one(C, 0),
               window((W - 1) * C, 0, 0.0F), next((W - 1) * C, 0);
  short_conv({1, L, C, W, 0, true}, x.data(), weight.data(), bias.data(), y.data());
  for (std::size_t t = 0; t < L; ++t) {
    short_conv_step({1, 1, C, W, 0, true}, window.data(), x.data() + t * C, weight.data(), bias.data(), next.data(),
                    one.data());
    std::copy_n(next.data(), next.size(), window.data());
    for (std::size_t c = 0; c < C; ++c) EXPECT_NEAR(one[c], y[t * C + c], 1e-6) << "token " << t;
  }
}

TEST(KernelsShortConv, ReferenceOfSiluIsTheDerivative) {
  // Central differences in float32: steps of 1e-2 leave about 1e-4 of error.
  const ShortConvShape s{1, 4, 2, 3, 0, true};
  const Written base = run(short_conv_reference, short_conv_backward_reference, s, 0);
  GuardedArray x = drawn(8, 0, 1), weight = drawn(6, 0, 2), bias = drawn(2, 0, 3), dy = drawn(8, 0, 4), y(8, 0);
  const auto forward = [&] { short_conv_reference(s, x.data(), weight.data(), bias.data(), y.data()); };
  expect_derivatives(base, {&x, &weight, &bias}, y, dy, forward, 1e-3);
}

TEST(KernelsShortConv, ReferenceByHand) {
  // One channel, three taps: the last multiplies the newest token; the bias is there from the start.
  const float x[] = {1, 10, 100, 1000}, weight[] = {2, 3, 5}, bias[] = {7};
  float y[4];
  short_conv_reference({1, 4, 1, 3, 0}, x, weight, bias, y);
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{12, 60, 539, 5327}));
  short_conv_reference({1, 4, 1, 3, 1}, x, weight, nullptr, y);
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{53, 532, 5320, 3200}));
}

TEST(KernelsShortConv, ReferenceBackwardIsTheAdjoint) {
  // The map is linear in x and in the weight: <dy, conv(x, w)> = <dx, x> = <dweight, w>.
  const ShortConvShape s{2, 6, 3, 4, 0};
  const Written r = run(short_conv_reference, short_conv_backward_reference, s, 0);
  GuardedArray x = drawn(36, 0, 1), weight = drawn(12, 0, 2), bias = drawn(3, 0, 3), dy = drawn(36, 0, 4);
  const auto inner = [](const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
    return sum;
  };
  const double linear = inner(dy.values(), r.arrays[0]) - inner(r.arrays[3], bias.values());
  EXPECT_NEAR(inner(r.arrays[1], x.values()), linear, 1e-4);
  EXPECT_NEAR(inner(r.arrays[2], weight.values()), linear, 1e-4);
}

KERNEL_TEST(KernelsShortConv, PlantedFaultsAreRejected) {
  const ShortConvShape s{2, 9, 17, 4, 0};
  const Backward last_sequence_only = [](const ShortConvShape& shape, const float* x, const float* w, const float* b,
                                         const float* dy, const ShortConvGradients& to) {
    short_conv_backward(shape, x, w, b, dy, to);
    ShortConvShape one = shape;
    one.B = 1;
    std::vector<float> ignored(shape.L * shape.C);
    short_conv_backward(one, x, w, b, dy, {ignored.data(), to.dweight, to.dbias});
  };
  const Backward zero_gradient = [](const ShortConvShape& shape, const float* x, const float* w, const float* b,
                                    const float* dy, const ShortConvGradients& to) {
    short_conv_backward(shape, x, w, b, dy, to);
    std::fill(to.dx, to.dx + shape.B * shape.L * shape.C, 0.0F);
  };
  const Backward forgotten_bias = [](const ShortConvShape& shape, const float* x, const float* w, const float*,
                                     const float* dy, const ShortConvGradients& to) {
    short_conv_backward(shape, x, w, nullptr, dy, to);
  };
  EXPECT_GT(error(last_sequence_only, s, 0), kTolerance);
  EXPECT_GT(error(zero_gradient, s, 0), kTolerance);
  ShortConvShape silu = s;
  silu.silu = true;
  EXPECT_GT(error(forgotten_bias, silu, 0), kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
