#include "ops/long_conv.h"

#include <gtest/gtest.h>

#include "ops/gated_conv.h"
#include "ops/path.h"

namespace mneme::ops {
namespace {

struct Outcome {
  torch::Tensor y, dx, dk;
};

Outcome differentiate(const torch::Tensor& x_in, const torch::Tensor& kernel_in, const torch::Tensor& dy) {
  torch::Tensor x = x_in.detach().clone().requires_grad_(true),
                kernel = kernel_in.detach().clone().requires_grad_(true);
  const torch::Tensor y = long_conv(x, kernel);
  y.backward(dy);
  return {y.detach(), x.grad(), kernel.grad()};
}

double distance(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

TEST(MixersLongConv, DirectSumsAndTransformsAgree) {
  torch::manual_seed(1);
  struct Shape {
    std::int64_t L, K;
  };
  for (const auto& [L, K] : {Shape{1, 1}, Shape{1, 4}, Shape{30, 30}, Shape{30, 7}, Shape{17, 40}}) {
    const torch::Tensor x = torch::randn({3, L, 5}), kernel = torch::randn({K, 5}), dy = torch::randn({3, L, 5});
    const Outcome direct = differentiate(x, kernel, dy);
    const ScopedComposed composed;
    const Outcome transformed = differentiate(x, kernel, dy);
    // Worst seen: 4e-7.
    EXPECT_LT(distance(direct.y, transformed.y), 5e-6) << L << ", " << K;
    EXPECT_LT(distance(direct.dx, transformed.dx), 5e-6) << L << ", " << K;
    EXPECT_LT(distance(direct.dk, transformed.dk), 5e-6) << L << ", " << K;
  }
}

TEST(MixersLongConv, TakesTensorsThatAreNotContiguous) {
  torch::manual_seed(1);
  const torch::Tensor x = torch::randn({2, 4, 6}).transpose(1, 2), kernel = torch::randn({4, 6}).t();
  EXPECT_TRUE(torch::equal(long_conv(x, kernel), long_conv(x.contiguous(), kernel.contiguous())));
}

TEST(MixersGatedLongConv, IsTheGatesAndTheConvolution) {
  torch::manual_seed(1);
  for (const std::int64_t L : {1, 30, 300}) {
    // Not contiguous: as it would come from a slice.
    const torch::Tensor inputs[] = {torch::randn({3, L, 16}).narrow(2, 1, 15), torch::randn({L, 5}), torch::randn({5})};
    const torch::Tensor dz = torch::randn({3, L, 5});
    const auto results = [&] {
      std::vector<torch::Tensor> leaves;
      for (const torch::Tensor& input : inputs) leaves.push_back(input.detach().clone().requires_grad_(true));
      const torch::Tensor z = gated_long_conv(leaves[0], leaves[1], leaves[2]);
      z.backward(dz);
      return std::vector<torch::Tensor>{z.detach(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
    };
    const std::vector<torch::Tensor> ours = results();
    const ScopedComposed scope;
    const std::vector<torch::Tensor> composed = results();
    for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_LT(distance(ours[i], composed[i]), 5e-6) << L << ", " << i;
  }
}

}  // namespace
}  // namespace mneme::ops
