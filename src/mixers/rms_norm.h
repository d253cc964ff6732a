// RMSNorm over the last dimension: x / sqrt(mean(x^2) + eps) * weight, the mean over each of `groups` equal parts.
#pragma once

#include "mixers/draw.h"
#include "mixers/torch.h"

namespace mneme {

class RmsNorm : public torch::nn::Module, public SelfInitialised {
 public:
  RmsNorm(std::int64_t width, double eps, bool affine = true, std::int64_t groups = 1) : eps_(eps), groups_(groups) {
    if (affine) weight_ = register_parameter("weight", torch::ones({width}));
  }

  torch::Tensor forward(const torch::Tensor& x) const {
    const torch::Tensor parts = groups_ == 1 ? x : x.unflatten(-1, {groups_, x.size(-1) / groups_});
    torch::Tensor y = parts * torch::rsqrt(parts.square().mean(-1, true) + eps_);
    if (groups_ > 1) y = y.flatten(-2);
    return weight_.defined() ? y * weight_ : y;
  }

  void initialise(const Draw& draw, const std::string&) override {
    if (weight_.defined()) draw.constant(weight_, 1.0);
  }

 private:
  double eps_;
  std::int64_t groups_;
  torch::Tensor weight_;  // [width], undefined if not affine
};

}  // namespace mneme
