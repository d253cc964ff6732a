#include "ops/short_conv.h"

#include "kernels/conv/short_conv.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

struct ShortConvTensors {
  torch::Tensor x, weight, bias;  // bias may be missing
};

class ShortConv : public Operation<ShortConv> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& input,
                               const torch::Tensor& weight, const c10::optional<torch::Tensor>& bias,
                               std::int64_t ahead, bool silu) {
    const torch::Tensor x = with_even_rows(input);
    torch::Tensor y = torch::empty(x.sizes(), x.options());
    kernels::short_conv(shape_of(x, weight, ahead, silu), floats(x), floats(weight), floats(value_of(bias)), floats(y));
    context->save_for_backward({x, weight, value_of(bias)});
    context->saved_data["ahead"] = ahead;
    context->saved_data["silu"] = silu;
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto [x, weight, bias] = named<ShortConvTensors>(context->get_saved_variables());
    const torch::Tensor dout = gradients[0].contiguous();
    torch::Tensor dx = torch::empty(x.sizes(), x.options()), dweight = torch::empty_like(weight),
                  dbias = room_for(bias, x.options());
    kernels::short_conv_backward(
        shape_of(x, weight, context->saved_data["ahead"].toInt(), context->saved_data["silu"].toBool()), floats(x),
        floats(weight), floats(bias), floats(dout), {floats(dx), floats(dweight), floats(dbias)});
    return {dx, dweight, dbias, torch::Tensor(), torch::Tensor()};
  }

 private:
  static kernels::ShortConvShape shape_of(const torch::Tensor& x, const torch::Tensor& weight, std::int64_t ahead,
                                          bool silu) {
    return {extent(x, 0), extent(x, 1),     extent(x, 2), extent(weight, 2), static_cast<std::size_t>(ahead),
            silu,         rows_of(x).stride};
  }
};

// The input itself, with a gradient of zero.
class ZeroGradient : public Operation<ZeroGradient> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& x) { return x.clone(); }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list gradients) {
    return {torch::zeros_like(gradients[0])};
  }
};

}  // namespace

torch::Tensor short_conv(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                         std::int64_t ahead, bool silu) {
  if (use_kernels(x) && x.numel() > 0) return ShortConv::apply(x, weight, optional(bias), ahead, silu);
  const std::int64_t L = x.size(1), taps = weight.size(2);
  const torch::Tensor padded = torch::constant_pad_nd(x, {0, 0, taps - 1 - ahead, ahead});
  torch::Tensor y = bias.defined() ? bias.expand({x.size(0), L, -1}) : torch::zeros_like(x);
  for (std::int64_t tap = 0; tap < taps; ++tap)
    y = torch::addcmul(y, padded.narrow(1, tap, L), weight.select(2, tap).select(1, 0));
  return silu ? torch::silu(y) : y;
}

torch::Tensor short_conv_step(torch::Tensor& window, const torch::Tensor& x, const torch::Tensor& weight,
                              const torch::Tensor& bias, bool silu) {
  if (use_kernels(x) && !torch::GradMode::is_enabled() && x.numel() > 0) {
    const torch::Tensor held = window.contiguous(), token = x.stride(1) == 1 ? x : x.contiguous();
    const torch::Tensor next = torch::empty_like(held), y = torch::empty(x.sizes(), x.options());
    kernels::short_conv_step(
        {extent(x, 0), 1, extent(x, 1), extent(weight, 2), 0, silu, static_cast<std::size_t>(token.stride(0))},
        floats(held), floats(token), floats(weight), floats(bias), floats(next), floats(y));
    window = next;
    return y;
  }
  const torch::Tensor all = torch::cat({window, x.unsqueeze(1)}, 1);  // [B, W, C]
  torch::Tensor y = (all * weight.select(1, 0).t()).sum(1);
  if (bias.defined()) y = y + bias;
  window = all.narrow(1, 1, all.size(1) - 1);
  return silu ? torch::silu(y) : y;
}

torch::Tensor without_gradient(const torch::Tensor& x) { return ZeroGradient::apply(x); }

}  // namespace mneme::ops
