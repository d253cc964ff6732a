// Linear layers, norms and MLPs of ours against torch's: values and every gradient.
#include <gtest/gtest.h>

#include "ops/layer_norm.h"
#include "ops/linear.h"
#include "ops/mlp.h"
#include "ops/path.h"

namespace mneme::ops {
namespace {

using torch::Tensor;

struct Outcome {
  std::vector<Tensor> values;
};

bool agree(const Outcome& ours, const Outcome& theirs) {
  if (ours.values.size() != theirs.values.size()) return false;
  for (std::size_t i = 0; i < ours.values.size(); ++i)
    if (!torch::allclose(ours.values[i], theirs.values[i], 1e-4, 1e-5)) return false;
  return true;
}

Tensor leaf(std::initializer_list<std::int64_t> sizes) { return torch::randn(sizes).requires_grad_(true); }

// Gradients of the inputs of `map`, and its value.
template <class Map>
Outcome outcome(const Map& map, std::vector<Tensor> inputs) {
  for (Tensor& input : inputs)
    if (input.defined()) input.mutable_grad() = Tensor();
  Tensor y = map();
  torch::manual_seed(9);
  (y * torch::randn_like(y)).sum().backward();
  Outcome result{{y.detach()}};
  for (const Tensor& input : inputs)
    if (input.defined()) result.values.push_back(input.grad().clone());
  return result;
}

TEST(LinearMap, EqualsTorchs) {
  torch::manual_seed(1);
  for (const bool biased : {false, true}) {
    const Tensor x = leaf({3, 5, 12}), weight = leaf({20, 12}), bias = biased ? leaf({20}) : Tensor();
    const auto ours = [&] { return linear_map(x, weight, bias); };
    const auto theirs = [&] { return torch::linear(x, weight, bias); };
    EXPECT_TRUE(agree(outcome(ours, {x, weight, bias}), outcome(theirs, {x, weight, bias})));
    // Rows that are not contiguous, and a part of a weight, which is no parameter of its own.
    const auto ours_part = [&] {
      return linear_map(x.transpose(0, 1), weight.narrow(0, 4, 8), biased ? bias.narrow(0, 4, 8) : bias);
    };
    const auto theirs_part = [&] {
      return torch::linear(x.transpose(0, 1), weight.narrow(0, 4, 8), biased ? bias.narrow(0, 4, 8) : bias);
    };
    EXPECT_TRUE(agree(outcome(ours_part, {x, weight, bias}), outcome(theirs_part, {x, weight, bias})));
  }
}

TEST(LinearMap, AddsToAGradientThatIsThere) {
  torch::manual_seed(2);
  const Tensor x = leaf({4, 3}), weight = leaf({2, 3});
  linear_map(x, weight).sum().backward();
  const Tensor once = weight.grad().clone();
  float* place = weight.grad().data_ptr<float>();
  linear_map(x, weight).sum().backward();
  EXPECT_EQ(weight.grad().data_ptr<float>(), place);
  EXPECT_TRUE(torch::allclose(weight.grad(), 2 * once));
}

TEST(LinearMap, MakesNoGradientThatNobodyWants) {
  const Tensor x = torch::randn({4, 3}), weight = leaf({2, 3}), fixed = torch::randn({2, 3});
  linear_map(x, weight).sum().backward();
  EXPECT_TRUE(weight.grad().defined());
  EXPECT_FALSE(x.grad().defined());
  const Tensor input = leaf({4, 3});
  linear_map(input, fixed).sum().backward();
  EXPECT_TRUE(input.grad().defined());
  EXPECT_FALSE(fixed.grad().defined());
}

TEST(LinearMap, TakesOtherTypesAsTorchDoes) {
  const Tensor x = torch::randn({4, 3}, torch::kFloat64), weight = torch::randn({2, 3}, torch::kFloat64);
  EXPECT_TRUE(torch::equal(linear_map(x, weight), torch::linear(x, weight)));
  EXPECT_EQ(linear_map(torch::randn({0, 3}), torch::randn({2, 3})).sizes(), torch::IntArrayRef({0, 2}));
}

TEST(AddAndNorm, EqualsTorchs) {
  torch::manual_seed(3);
  torch::nn::LayerNorm norm(torch::nn::LayerNormOptions({12}).eps(1e-5));
  {
    const torch::NoGradGuard guard;
    norm->weight.normal_();
    norm->bias.normal_();
  }
  const Tensor a = leaf({3, 5, 12}), b = leaf({3, 5, 12});
  for (const bool sum : {false, true}) {
    // Both outputs are used, as in a residual stream.
    const auto map = [&] {
      const NormedSum next = add_and_norm(a, sum ? b : Tensor(), norm);
      return next.normal * 2 + next.sum * next.sum;
    };
    const auto composed = [&] {
      const ScopedComposed guard;
      return map();
    };
    const std::vector<Tensor> inputs = {a, sum ? b : Tensor(), norm->weight, norm->bias};
    EXPECT_TRUE(agree(outcome(map, inputs), outcome(composed, inputs))) << sum;
  }
  // One output alone.
  for (const bool only_sum : {false, true}) {
    const auto map = [&] { return only_sum ? add_and_norm(a, b, norm).sum : add_and_norm(a, b, norm).normal; };
    const auto composed = [&] {
      const ScopedComposed guard;
      return map();
    };
    EXPECT_TRUE(agree(outcome(map, {a, b}), outcome(composed, {a, b}))) << only_sum;
  }
}

TEST(AddAndNorm, OfSomeRowsOfTheSumEqualsTorchs) {
  torch::manual_seed(5);
  const torch::nn::LayerNorm norm(torch::nn::LayerNormOptions({12}).eps(1e-5));
  const Tensor a = leaf({3, 5, 12}), b = leaf({3, 5, 12}), rows = torch::tensor({0, 4, 5, 13}, torch::kInt64);
  for (const bool sum : {false, true})
    for (const bool only_sum : {false, true}) {
      const auto map = [&] {
        const NormedSum next = add_and_norm(a, sum ? b : Tensor(), norm, rows);
        EXPECT_EQ(next.sum.sizes(), torch::IntArrayRef({4, 12}));
        return only_sum ? next.sum * next.sum : torch::cat({next.normal.flatten(0, 1), next.sum * next.sum});
      };
      const auto composed = [&] {
        const ScopedComposed guard;
        return map();
      };
      const std::vector<Tensor> inputs = {a, sum ? b : Tensor()};
      EXPECT_TRUE(agree(outcome(map, inputs), outcome(composed, inputs))) << sum << only_sum;
    }
}

TEST(GeluMlp, EqualsTorchs) {
  torch::manual_seed(4);
  const Linear first(12, 40), second(40, 12);
  const Tensor x = leaf({3, 5, 12});
  const auto ours = [&] { return gelu_mlp(x, first, second); };
  const auto theirs = [&] {
    const ScopedComposed guard;
    return gelu_mlp(x, first, second);
  };
  const std::vector<Tensor> inputs = {x, first->weight, first->bias, second->weight, second->bias};
  EXPECT_TRUE(agree(outcome(ours, inputs), outcome(theirs, inputs)));
}

}  // namespace
}  // namespace mneme::ops
