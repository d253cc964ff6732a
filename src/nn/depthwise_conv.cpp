#include "nn/depthwise_conv.h"

#include <cmath>

#include "kernels/conv/short_conv.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::nn {
namespace {

class ShortConv : public ops::Operation<ShortConv> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& input,
                               const torch::Tensor& weight, const c10::optional<torch::Tensor>& bias,
                               std::int64_t ahead, bool silu) {
    const torch::Tensor x = ops::with_even_rows(input);
    torch::Tensor y = torch::empty(x.sizes(), x.options());
    kernels::short_conv(shape_of(x, weight, ahead, silu), x.data_ptr<float>(), weight.data_ptr<float>(),
                        bias ? bias->data_ptr<float>() : nullptr, y.data_ptr<float>());
    context->save_for_backward({x, weight, bias ? *bias : torch::Tensor()});
    context->saved_data["ahead"] = ahead;
    context->saved_data["silu"] = silu;
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor &x = saved[0], &weight = saved[1], &bias = saved[2], dy = gradients[0].contiguous();
    torch::Tensor dx = torch::empty(x.sizes(), x.options()), dweight = torch::empty_like(weight), dbias;
    if (bias.defined()) dbias = torch::empty_like(bias);
    kernels::short_conv_backward(
        shape_of(x, weight, context->saved_data["ahead"].toInt(), context->saved_data["silu"].toBool()),
        x.data_ptr<float>(), weight.data_ptr<float>(), bias.defined() ? bias.data_ptr<float>() : nullptr,
        dy.data_ptr<float>(),
        {dx.data_ptr<float>(), dweight.data_ptr<float>(), dbias.defined() ? dbias.data_ptr<float>() : nullptr});
    return {dx, dweight, dbias, torch::Tensor(), torch::Tensor()};
  }

 private:
  static kernels::ShortConvShape shape_of(const torch::Tensor& x, const torch::Tensor& weight, std::int64_t ahead,
                                          bool silu) {
    return {ops::extent(x, 0),
            ops::extent(x, 1),
            ops::extent(x, 2),
            ops::extent(weight, 2),
            static_cast<std::size_t>(ahead),
            silu,
            ops::rows_of(x).stride};
  }
};

// The input itself, with a gradient of zero.
class ZeroGradient : public ops::Operation<ZeroGradient> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& x) { return x.clone(); }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list gradients) {
    return {torch::zeros_like(gradients[0])};
  }
};

torch::Tensor finished(const torch::Tensor& y, ConvEnd end) { return end == ConvEnd::silu ? torch::silu(y) : y; }

}  // namespace

DepthwiseConv::DepthwiseConv(std::int64_t channels, std::int64_t taps, bool bias, std::int64_t ahead)
    : taps_(taps), ahead_(ahead) {
  weight_ = register_parameter("weight", torch::zeros({channels, 1, taps}));
  if (bias) bias_ = register_parameter("bias", torch::zeros({channels}));
}

torch::Tensor DepthwiseConv::bias() const {
  return bias_.defined() && shift_invariant_ ? ZeroGradient::apply(bias_) : bias_;
}

torch::Tensor DepthwiseConv::forward(const torch::Tensor& x, ConvEnd end) const {
  const torch::Tensor bias = this->bias();
  if (ops::use_kernels(x) && x.numel() > 0)
    return ShortConv::apply(x, weight_, bias.defined() ? c10::optional<torch::Tensor>(bias) : c10::nullopt, ahead_,
                            end == ConvEnd::silu);
  const std::int64_t L = x.size(1);
  const torch::Tensor padded = torch::constant_pad_nd(x, {0, 0, taps_ - 1 - ahead_, ahead_});
  torch::Tensor y = bias.defined() ? bias.expand({x.size(0), L, -1}) : torch::zeros_like(x);
  for (std::int64_t tap = 0; tap < taps_; ++tap)
    y = torch::addcmul(y, padded.narrow(1, tap, L), weight_.select(2, tap).select(1, 0));
  return finished(y, end);
}

torch::Tensor DepthwiseConv::initial_window(std::int64_t batch) const {
  return torch::zeros({batch, taps_ - 1, weight_.size(0)}, weight_.options());
}

torch::Tensor DepthwiseConv::step(torch::Tensor& window, const torch::Tensor& x, ConvEnd end) const {
  const torch::Tensor all = torch::cat({window, x.unsqueeze(1)}, 1);  // [B, W, C]
  torch::Tensor y = (all * weight_.select(1, 0).t()).sum(1);
  if (bias_.defined()) y = y + bias_;
  window = all.narrow(1, 1, taps_ - 1);
  return finished(y, end);
}

void DepthwiseConv::initialise(const Draw& draw, const std::string& prefix) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(taps_));
  draw.uniform(weight_, prefix + "weight", bound);
  if (bias_.defined()) draw.uniform(bias_, prefix + "bias", bound);
}

}  // namespace mneme::nn
