#include "ops/linear.h"

#include "kernels/dense/linear.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"
#include "ops/weight_gradient.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

kernels::LinearShape shape_of(const torch::Tensor& x, const torch::Tensor& weight) {
  const std::size_t in = extent(weight, 1);
  return {static_cast<std::size_t>(x.numel()) / in, in, extent(weight, 0)};
}

struct LinearTensors {
  torch::Tensor x, weight;     // contiguous
  torch::Tensor matrix, bias;  // as they were given: where their gradients go; bias may be missing
};

class LinearMap : public Operation<LinearMap> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& input, const torch::Tensor& matrix,
                               const c10::optional<torch::Tensor>& bias) {
    const torch::Tensor x = input.contiguous(), weight = matrix.contiguous();
    std::vector<std::int64_t> sizes = x.sizes().vec();
    sizes.back() = weight.size(0);
    torch::Tensor y = torch::empty(sizes, x.options());
    kernels::linear(shape_of(x, weight), floats(x), floats(weight), floats(value_of(bias)), floats(y));
    context->save_for_backward({x, weight, matrix, value_of(bias)});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto [x, weight, matrix, bias] = named<LinearTensors>(context->get_saved_variables());
    const torch::Tensor dout = gradients[0].contiguous();
    torch::Tensor dx = context->needs_input_grad(0) ? torch::empty_like(x) : torch::Tensor();
    const WeightGradient dweight(matrix, context->needs_input_grad(1)),
        dbias(bias, bias.defined() && context->needs_input_grad(2));
    kernels::linear_backward(shape_of(x, weight), floats(x), floats(weight), floats(dout),
                             {floats(dx), dweight.data(), dbias.data()});
    return {dx, dweight.result(), dbias.result()};
  }
};

}  // namespace

torch::Tensor linear_map(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias) {
  if (!use_kernels(x) || !use_kernels(weight) || x.numel() == 0) return torch::linear(x, weight, bias);
  return LinearMap::apply(x, weight, optional(bias));
}

}  // namespace mneme::ops
