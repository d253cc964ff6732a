#include "ops/gated_norm.h"

#include "kernels/dense/gated_norm.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Tensors may be undefined.

kernels::GatedNorm kernel_input(const variable_list& saved, double eps, bool before) {
  const torch::Tensor &x = saved[0], &weight = saved[1], &gate = saved[2];
  const std::size_t P = extent(x, -2), C = extent(x, -1);
  kernels::Rows rows;
  if (gate.defined())
    rows = {gate.data_ptr<float>(), gate.dim() == 3 ? static_cast<std::size_t>(gate.stride(1)) : P * C};
  return {static_cast<std::size_t>(x.numel()) / (P * C),
          P,
          C,
          static_cast<float>(eps),
          x.data_ptr<float>(),
          floats(weight),
          weight.defined() && extent(weight, 0) == C,
          rows,
          before};
}

class Norm : public Operation<Norm> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const c10::optional<torch::Tensor>& weight, const c10::optional<torch::Tensor>& gate,
                               double eps, bool before) {
    torch::Tensor rows;
    if (gate) rows = gate->dim() == 3 ? with_even_rows(*gate) : gate->contiguous();
    const variable_list saved = {x.contiguous(), weight ? weight->contiguous() : torch::Tensor(), rows};
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.pop_back();
    shape.back() = x.size(-2) * x.size(-1);
    torch::Tensor y = torch::empty(shape, x.options());
    kernels::gated_norm(kernel_input(saved, eps, before), y.data_ptr<float>());
    context->save_for_backward(saved);
    context->saved_data["eps"] = eps;
    context->saved_data["before"] = before;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor dy = gradients[0].contiguous();
    variable_list result;
    for (const torch::Tensor& tensor : saved)
      result.push_back(tensor.defined() ? torch::empty(tensor.sizes(), dy.options()) : torch::Tensor());
    kernels::gated_norm_backward(
        kernel_input(saved, context->saved_data["eps"].toDouble(), context->saved_data["before"].toBool()),
        {dy.data_ptr<float>(), floats(result[0]), floats(result[2]), floats(result[1])});
    result.insert(result.end(), {torch::Tensor(), torch::Tensor()});
    return result;
  }
};

// autograd's functions take no undefined tensor.
c10::optional<torch::Tensor> optional(const torch::Tensor& tensor) {
  return tensor.defined() ? c10::optional<torch::Tensor>(tensor) : c10::nullopt;
}

}  // namespace

torch::Tensor gated_norm(const torch::Tensor& x, const torch::Tensor& weight, double eps, const torch::Tensor& gate,
                         GatePlace place) {
  const bool before = place == GatePlace::before;
  // A float32 residual may meet weights of another type.
  const auto fits = [](const torch::Tensor& tensor) { return !tensor.defined() || use_kernels(tensor); };
  if (use_kernels(x) && fits(weight) && fits(gate))
    return Norm::apply(x, optional(weight), optional(gate), eps, before);
  torch::Tensor y = x;
  if (gate.defined() && before) y = y * torch::silu(gate).view_as(x);
  y = y * torch::rsqrt(y.square().mean(-1, true) + eps);
  if (weight.defined() && weight.size(0) == x.size(-1)) y = y * weight;
  y = y.flatten(-2);
  if (weight.defined() && weight.size(0) != x.size(-1)) y = y * weight;
  return gate.defined() && !before ? y * torch::silu(gate) : y;
}

}  // namespace mneme::ops
