// A 1 x 1 convolution in Conv1d's layout: a linear map with weight [out, in, 1].
#pragma once

#include "nn/draw.h"
#include "ops/torch.h"

namespace mneme::nn {

class PointwiseConv : public torch::nn::Module, public SelfInitialised {
 public:
  PointwiseConv(std::int64_t in, std::int64_t out);
  torch::Tensor forward(const torch::Tensor& x) const;
  void initialise(const Draw& draw, const std::string& prefix) override;

 private:
  torch::Tensor weight_, bias_;
};

}  // namespace mneme::nn
