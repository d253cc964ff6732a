#include "kernels/conv/conv_gates.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/harness.h"
#include "kernels/simd/dispatch.h"

namespace mneme::kernels {
namespace {

using mneme::testing::expect_derivatives;
using mneme::testing::GuardedArray;
using mneme::testing::kSizes;
using mneme::testing::worst_error;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen on any target: 2.5e-7.
constexpr double kTolerance = 5e-7;

// The convolution between the gates is the identity here: y = v, so dv = dy.
struct Case {
  std::size_t B, L, C, shift;
  GuardedArray u{3 * B * L * C, shift}, skip{C, shift}, dz{B * L * C, shift};
  GuardedArray v{B * L * C, shift}, g{B * L * C, shift}, z{B * L * C, shift};
  GuardedArray dy{B * L * C, shift}, du{3 * B * L * C, shift}, dskip{C, shift};

  Case(std::size_t sequences, std::size_t length, std::size_t channels, std::size_t off)
      : B(sequences), L(length), C(channels), shift(off) {
    u.fill_normal(1);
    skip.fill_normal(2);
    dz.fill_normal(3);
  }
  ConvGatesInput gates() { return {B, L, C, u.data(), skip.data()}; }
  void forward() {
    open_gate(gates(), v.data());
    std::copy_n(v.data(), v.size(), g.data());
    close_gate(gates(), z.data(), {v.data(), g.data()});
  }
  Written run() {
    forward();
    close_gate_backward(gates(), {v.data(), g.data()}, dz.data(), {dy.data(), du.data(), dskip.data()});
    open_gate_backward(gates(), dy.data(), dy.data(), du.data());
    return written({&z, &du, &dskip}, {&v, &g, &dy});
  }
};

KERNEL_TEST(KernelsConvGates, AgreeWithTheReferenceAtEverySizeAndAlignment) {
  for (const std::size_t C : kSizes) {
    Case ours(2, 3, C, C % 5), plain(2, 3, C, C % 5);
    const Written fast = ours.run();
    const ScopedReference reference;
    EXPECT_LE(worst_error(fast, plain.run()), kTolerance) << C << " channels";
  }
}

KERNEL_TEST(KernelsConvGates, GradientsAreDerivatives) {
  Case small(2, 3, 5, 1);
  const Written gradients = small.run();
  expect_derivatives(
      gradients, {&small.u, &small.skip}, small.z, small.dz, [&] { small.forward(); }, 5e-3);
}

KERNEL_TEST(KernelsConvGates, GradientsOfTheSkipAreSummedSequenceBySequence) {
  // One large sequence and many small ones: added up in float32, the small ones would be lost.
  Case uneven(1001, 1, 1, 0);
  for (std::size_t b = 0; b < uneven.B; ++b) {
    for (std::size_t part = 0; part < 3; ++part) uneven.u[3 * b + part] = 1.0F;
    uneven.dz[b] = b == 0 ? 1e8F : 1.0F;
  }
  EXPECT_EQ(uneven.run().arrays[2][0], static_cast<float>(1e8 + 1000));
}

}  // namespace
}  // namespace mneme::kernels
