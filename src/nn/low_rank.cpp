#include "nn/low_rank.h"

#include "nn/nested.h"
#include "nn/own_linears.h"
#include "ops/linear.h"

namespace mneme::nn {

LowRank::LowRank(std::int64_t in, std::int64_t rank, std::int64_t out, Waist waist, bool bias) : waist_(waist) {
  const auto outer = register_module("lora", std::make_shared<NameLevel>());
  const auto first = outer->register_module("0", std::make_shared<NameLevel>());
  const auto last = outer->register_module("2", std::make_shared<NameLevel>());
  A_ = first->register_parameter("weight", torch::zeros({rank, in}));
  B_ = last->register_parameter("weight", torch::zeros({out, rank}));
  if (bias) bias_ = last->register_parameter("bias", torch::zeros({out}));
}

torch::Tensor LowRank::forward(const torch::Tensor& x) const {
  torch::Tensor waist = ops::linear_map(x, A_);
  if (waist_ == Waist::tanh) waist = torch::tanh(waist);
  if (waist_ == Waist::sigmoid) waist = torch::sigmoid(waist);
  return ops::linear_map(waist, B_, bias_);
}

void LowRank::initialise(const Draw& draw, const std::string& prefix, const std::function<double(std::int64_t)>& bias) {
  draw.constant(A_, 0.0);
  draw_orthogonal(draw, B_, prefix + "lora.2.weight", 0.1);
  if (bias_.defined()) draw.values(bias_, prefix + "lora.2.bias", [&](Random&, std::int64_t c) { return bias(c); });
}

}  // namespace mneme::nn
