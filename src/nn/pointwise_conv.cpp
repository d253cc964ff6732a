#include "nn/pointwise_conv.h"

#include <cmath>

#include "ops/linear.h"

namespace mneme::nn {

PointwiseConv::PointwiseConv(std::int64_t in, std::int64_t out) {
  weight_ = register_parameter("weight", torch::zeros({out, in, 1}));
  bias_ = register_parameter("bias", torch::zeros({out}));
}

torch::Tensor PointwiseConv::forward(const torch::Tensor& x) const {
  return ops::linear_map(x, weight_.select(2, 0), bias_);
}

void PointwiseConv::initialise(const Draw& draw, const std::string& prefix) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(weight_.size(1)));
  draw.uniform(weight_, prefix + "weight", bound);
  draw.uniform(bias_, prefix + "bias", bound);
}

}  // namespace mneme::nn
