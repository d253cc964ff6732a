#include "ops/gated_norm.h"

#include "kernels/dense/gated_norm.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct GatedNormTensors {
  torch::Tensor x;             // contiguous
  torch::Tensor weight, gate;  // or none

  variable_list list() const { return {x, weight, gate}; }

  kernels::GatedNormInput input(double eps, bool before) const {
    const std::size_t P = extent(x, -2), C = extent(x, -1);
    kernels::Rows rows;
    if (gate.defined()) rows = {floats(gate), gate.dim() == 3 ? static_cast<std::size_t>(gate.stride(1)) : P * C};
    return {
        static_cast<std::size_t>(x.numel()) / (P * C), P,    C,     static_cast<float>(eps), floats(x), floats(weight),
        weight.defined() && extent(weight, 0) == C,    rows, before};
  }
};

class Norm : public Operation<Norm> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const c10::optional<torch::Tensor>& weight, const c10::optional<torch::Tensor>& gate,
                               double eps, bool before) {
    torch::Tensor rows;
    if (gate) rows = gate->dim() == 3 ? with_even_rows(*gate) : gate->contiguous();
    const GatedNormTensors t{x.contiguous(), weight ? weight->contiguous() : torch::Tensor(), rows};
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.pop_back();
    shape.back() = x.size(-2) * x.size(-1);
    torch::Tensor out = torch::empty(shape, x.options());
    kernels::gated_norm(t.input(eps, before), floats(out));
    context->save_for_backward(t.list());
    context->saved_data["eps"] = eps;
    context->saved_data["before"] = before;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<GatedNormTensors>(context->get_saved_variables());
    const torch::Tensor dout = gradients[0].contiguous();
    const torch::Tensor dx = room_for(t.x, dout.options()), dweight = room_for(t.weight, dout.options()),
                        dgate = room_for(t.gate, dout.options());
    kernels::gated_norm_backward(t.input(context->saved_data["eps"].toDouble(), context->saved_data["before"].toBool()),
                                 floats(dout), {floats(dx), floats(dgate), floats(dweight)});
    return {dx, dweight, dgate, torch::Tensor(), torch::Tensor()};
  }
};

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
