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

class LinearMap : public Operation<LinearMap> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& input, const torch::Tensor& matrix,
                               const c10::optional<torch::Tensor>& bias) {
    const torch::Tensor x = input.contiguous(), weight = matrix.contiguous();
    std::vector<std::int64_t> sizes = x.sizes().vec();
    sizes.back() = weight.size(0);
    torch::Tensor y = torch::empty(sizes, x.options());
    kernels::linear(shape_of(x, weight), x.data_ptr<float>(), weight.data_ptr<float>(),
                    bias ? bias->data_ptr<float>() : nullptr, y.data_ptr<float>());
    context->save_for_backward({x, weight, matrix, bias ? *bias : torch::Tensor()});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &x = saved[0], &weight = saved[1];
    const torch::Tensor dy = gradients[0].contiguous();
    torch::Tensor dx = context->needs_input_grad(0) ? torch::empty_like(x) : torch::Tensor();
    WeightGradient dweight(saved[2], context->needs_input_grad(1)),
        dbias(saved[3], saved[3].defined() && context->needs_input_grad(2));
    kernels::linear_backward(shape_of(x, weight), x.data_ptr<float>(), weight.data_ptr<float>(), dy.data_ptr<float>(),
                             {dx.defined() ? dx.data_ptr<float>() : nullptr, dweight.data(), dbias.data()});
    return {dx, dweight.result(), dbias.result()};
  }
};

}  // namespace

torch::Tensor linear_map(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias) {
  if (!use_kernels(x) || !use_kernels(weight) || x.numel() == 0) return torch::linear(x, weight, bias);
  return LinearMap::apply(x, weight, bias.defined() ? c10::optional<torch::Tensor>(bias) : c10::nullopt);
}

}  // namespace mneme::ops
