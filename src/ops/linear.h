// Linear layers: torch's parameters and names, our kernel.
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// x [.., in] -> [.., out] by weight [out, in] and bias [out], which may be undefined.
//
// In a backward pass the gradient of a parameter that has one already is added to it there, without a tensor of its
// own.
torch::Tensor linear_map(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias = {});

class LinearImpl : public torch::nn::LinearImpl {
 public:
  using torch::nn::LinearImpl::LinearImpl;
  torch::Tensor forward(const torch::Tensor& x) const { return linear_map(x, weight, bias); }
  // Outputs [first, first + count) alone.
  torch::Tensor part(const torch::Tensor& x, std::int64_t first, std::int64_t count) const {
    return linear_map(x, weight.narrow(0, first, count),
                      bias.defined() ? bias.narrow(0, first, count) : torch::Tensor());
  }
};
TORCH_MODULE(Linear);

}  // namespace mneme::ops
