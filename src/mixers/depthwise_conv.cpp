#include "mixers/depthwise_conv.h"

#include <cmath>

namespace mneme {

DepthwiseConv::DepthwiseConv(std::int64_t channels, std::int64_t taps, bool bias, std::int64_t ahead)
    : taps_(taps), ahead_(ahead) {
  weight_ = register_parameter("weight", torch::zeros({channels, 1, taps}));
  if (bias) bias_ = register_parameter("bias", torch::zeros({channels}));
}

torch::Tensor DepthwiseConv::forward(const torch::Tensor& x) const {
  // A short filter is a few shifted, scaled copies: no transposition to Conv1d's channel-first layout.
  const std::int64_t L = x.size(1);
  const torch::Tensor padded = torch::constant_pad_nd(x, {0, 0, taps_ - 1 - ahead_, ahead_});
  torch::Tensor y = bias_.defined() ? bias_.expand({x.size(0), L, -1}) : torch::zeros_like(x);
  for (std::int64_t tap = 0; tap < taps_; ++tap)
    y = torch::addcmul(y, padded.narrow(1, tap, L), weight_.select(2, tap).select(1, 0));
  return y;
}

torch::Tensor DepthwiseConv::initial_window(std::int64_t batch) const {
  return torch::zeros({batch, taps_ - 1, weight_.size(0)}, weight_.options());
}

torch::Tensor DepthwiseConv::step(torch::Tensor& window, const torch::Tensor& x) const {
  const torch::Tensor all = torch::cat({window, x.unsqueeze(1)}, 1);  // [B, W, C]
  torch::Tensor y = (all * weight_.select(1, 0).t()).sum(1);
  if (bias_.defined()) y = y + bias_;
  window = all.narrow(1, 1, taps_ - 1);
  return y;
}

void DepthwiseConv::initialise(const Draw& draw, const std::string& prefix) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(taps_));
  draw.uniform(weight_, prefix + "weight", bound);
  if (bias_.defined()) draw.uniform(bias_, prefix + "bias", bound);
}

}  // namespace mneme
