#include "kernels/conv/token_blend.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "kernels/kernel_arrays.h"
#include "kernels/targets.h"

namespace mneme::kernels {
namespace {

using mneme::testing::GuardedArray;
using mneme::testing::kSizes;
using mneme::testing::relative_error;

// Worst seen: 8.4e-7.
constexpr double kTolerance = 2e-6;

using Forward = std::function<void(const TokenBlendInput&, const PerBlend<float*>&)>;
using Backward = std::function<void(const TokenBlendInput&, const PerBlend<const float*>&, const TokenBlendGradients&)>;

// All arrays of one call.
struct Arrays {
  Arrays(std::size_t B, std::size_t L, std::size_t C, std::size_t M, std::size_t shift)
      : x(B * L * C, shift), dx(B * L * C, shift), in{B, L, C, M, x.data(), {}} {
    x.fill_normal(1);
    for (std::size_t m = 0; m < M; ++m) {
      for (auto* list : {&y, &dy}) list->push_back(std::make_unique<GuardedArray>(B * L * C, shift));
      for (auto* list : {&share, &dshare}) list->push_back(std::make_unique<GuardedArray>(C, shift));
      share[m]->fill_normal(10 + m);
      dy[m]->fill_normal(20 + m);
      in.share[m] = share[m]->data();
    }
  }

  PerBlend<float*> outputs() {
    PerBlend<float*> result{};
    for (std::size_t m = 0; m < in.M; ++m) result[m] = y[m]->data();
    return result;
  }
  PerBlend<const float*> output_gradients() {
    PerBlend<const float*> result{};
    for (std::size_t m = 0; m < in.M; ++m) result[m] = dy[m]->data();
    return result;
  }
  TokenBlendGradients gradients() {
    TokenBlendGradients result{dx.data(), {}};
    for (std::size_t m = 0; m < in.M; ++m) result.dshare[m] = dshare[m]->data();
    return result;
  }

  GuardedArray x, dx;
  TokenBlendInput in;
  std::vector<std::unique_ptr<GuardedArray>> y, dy, share, dshare;
};

double worst(const Forward& forward, const Backward& backward, std::size_t L, std::size_t C, std::size_t M,
             std::size_t shift) {
  Arrays ours(2, L, C, M, shift), reference(2, L, C, M, shift);
  forward(ours.in, ours.outputs());
  backward(ours.in, ours.output_gradients(), ours.gradients());
  token_blend_reference(reference.in, reference.outputs());
  token_blend_backward_reference(reference.in, reference.output_gradients(), reference.gradients());
  double error = relative_error(ours.dx.values(), reference.dx.values());
  bool intact = ours.dx.margins_intact();
  for (std::size_t m = 0; m < M; ++m) {
    error = std::max({error, relative_error(ours.y[m]->values(), reference.y[m]->values()),
                      relative_error(ours.dshare[m]->values(), reference.dshare[m]->values())});
    intact = intact && ours.y[m]->margins_intact() && ours.dshare[m]->margins_intact();
  }
  EXPECT_TRUE(intact);
  return error;
}

KERNEL_TEST(KernelsTokenBlend, AgreesWithReferenceAtEverySizeAndAlignment) {
  for (const std::size_t C : kSizes)
    for (const std::size_t L : {1, 2, 7})
      for (const std::size_t M : {1, 3, 6})
        EXPECT_LE(worst(token_blend, token_blend_backward, L, C, M, C % 4), kTolerance)
            << C << " channels, " << L << " tokens";
}

TEST(KernelsTokenBlend, ReferenceByHand) {
  const float x[] = {10, 20, 40}, share[] = {0.25F};
  float y[3];
  token_blend_reference({1, 3, 1, 1, x, {share}}, {y});
  EXPECT_EQ(std::vector<float>(y, y + 3), (std::vector<float>{7.5F, 17.5F, 35.0F}));
}

TEST(KernelsTokenBlend, ReferenceBackwardIsTheAdjoint) {
  // Linear in x: <dy, y> = <dx, x>. With x fixed, moving the share by 1 moves <dy, y> by dshare.
  Arrays a(2, 5, 3, 1, 0);
  token_blend_reference(a.in, a.outputs());
  token_blend_backward_reference(a.in, a.output_gradients(), a.gradients());
  const auto inner = [](const std::vector<float>& left, const std::vector<float>& right) {
    double sum = 0;
    for (std::size_t i = 0; i < left.size(); ++i) sum += static_cast<double>(left[i]) * right[i];
    return sum;
  };
  const double before = inner(a.dy[0]->values(), a.y[0]->values());
  EXPECT_NEAR(inner(a.dx.values(), a.x.values()), before, 1e-5);
  (*a.share[0])[1] += 1.0F;
  token_blend_reference(a.in, a.outputs());
  EXPECT_NEAR(inner(a.dy[0]->values(), a.y[0]->values()) - before, (*a.dshare[0])[1], 1e-5);
}

KERNEL_TEST(KernelsTokenBlend, PlantedFaultsAreRejected) {
  const Forward sequences_run_together = [](const TokenBlendInput& in, const PerBlend<float*>& y) {
    TokenBlendInput one = in;
    one.L *= one.B;
    one.B = 1;
    token_blend(one, y);
  };
  const Backward successor_forgotten = [](const TokenBlendInput& in, const PerBlend<const float*>& dout,
                                          const TokenBlendGradients& to) {
    TokenBlendInput single = in;
    single.B *= single.L;
    single.L = 1;
    token_blend_backward(single, dout, to);
  };
  const Backward no_share = [](const TokenBlendInput& in, const PerBlend<const float*>& dout,
                               const TokenBlendGradients& to) {
    token_blend_backward(in, dout, to);
    std::fill_n(to.dshare[in.M - 1], in.C, 0.0F);
  };
  EXPECT_GT(worst(sequences_run_together, token_blend_backward, 5, 17, 3, 0), kTolerance);
  EXPECT_GT(worst(token_blend, successor_forgotten, 5, 17, 3, 0), kTolerance);
  EXPECT_GT(worst(token_blend, no_share, 5, 17, 3, 0), kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
