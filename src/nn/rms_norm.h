// RMSNorm over the last dimension: x / sqrt(mean(x^2) + eps) * weight, the mean over each of `groups` equal parts.
#pragma once

#include "nn/draw.h"
#include "ops/gated_norm.h"
#include "ops/torch.h"

namespace mneme::nn {

class RmsNorm : public torch::nn::Module, public SelfInitialised {
 public:
  RmsNorm(std::int64_t width, double eps, bool affine = true, std::int64_t groups = 1) : eps_(eps), groups_(groups) {
    if (affine) weight_ = register_parameter("weight", torch::ones({width}));
  }

  // One norm for all channels of a token (or `groups` of them), x [.., width]; with a gate of the same shape.
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& gate = {},
                        ops::GatePlace place = ops::GatePlace::after) const {
    return ops::gated_norm(x.unflatten(-1, {groups_, x.size(-1) / groups_}), weight_, eps_, gate, place);
  }

  // The same norm for each head, x [.., H, width] -> [.., H * width]; with a gate of that shape.
  torch::Tensor heads(const torch::Tensor& x, const torch::Tensor& gate = {}) const {
    return ops::gated_norm(x, weight_, eps_, gate, ops::GatePlace::after);
  }

  void initialise(const Draw& draw, const std::string&) override {
    if (weight_.defined()) draw.constant(weight_, 1.0);
  }

 private:
  double eps_;
  std::int64_t groups_;
  torch::Tensor weight_;  // [width], undefined if not affine
};

}  // namespace mneme::nn
