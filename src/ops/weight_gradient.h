// Where a backward pass puts the gradient of a weight.
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// Kernels add to weight gradients. A parameter that has its gradient already is added to in place; any other weight
// gets a tensor of zeros, which autograd takes on from there.
class WeightGradient {
 public:
  WeightGradient(const torch::Tensor& weight, bool wanted) {
    if (!wanted) return;
    const bool in_place = weight.is_leaf() && weight.grad().defined() && weight.grad().is_contiguous();
    place_ = in_place ? weight.grad() : torch::zeros(weight.sizes(), weight.options().requires_grad(false));
    if (!in_place) result_ = place_;
  }
  float* data() const { return place_.defined() ? place_.data_ptr<float>() : nullptr; }
  // For autograd: undefined if there is nothing left to do.
  const torch::Tensor& result() const { return result_; }

 private:
  torch::Tensor place_, result_;
};

}  // namespace mneme::ops
