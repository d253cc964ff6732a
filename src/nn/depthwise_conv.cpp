#include "nn/depthwise_conv.h"

#include <cmath>

#include "ops/short_conv.h"

namespace mneme::nn {

DepthwiseConv::DepthwiseConv(std::int64_t channels, std::int64_t taps, bool bias, std::int64_t ahead)
    : taps_(taps), ahead_(ahead) {
  weight_ = register_parameter("weight", torch::zeros({channels, 1, taps}));
  if (bias) bias_ = register_parameter("bias", torch::zeros({channels}));
}

torch::Tensor DepthwiseConv::bias() const {
  return bias_.defined() && shift_invariant_ ? ops::without_gradient(bias_) : bias_;
}

torch::Tensor DepthwiseConv::forward(const torch::Tensor& x, ConvEnd end) const {
  return ops::short_conv(x, weight_, bias(), ahead_, end == ConvEnd::silu);
}

torch::Tensor DepthwiseConv::initial_window(std::int64_t batch) const {
  return torch::zeros({batch, taps_ - 1, weight_.size(0)}, weight_.options());
}

torch::Tensor DepthwiseConv::step(torch::Tensor& window, const torch::Tensor& x, ConvEnd end) const {
  return ops::short_conv_step(window, x, weight_, bias_, end == ConvEnd::silu);
}

void DepthwiseConv::initialise(const Draw& draw, const std::string& prefix) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(taps_));
  draw.uniform(weight_, prefix + "weight", bound);
  if (bias_.defined()) draw.uniform(bias_, prefix + "bias", bound);
}

}  // namespace mneme::nn
