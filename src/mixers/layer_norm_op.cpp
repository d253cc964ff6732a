#include "mixers/layer_norm_op.h"

#include "kernels/layer_norm.h"
#include "mixers/operation.h"
#include "mixers/path.h"
#include "mixers/rows.h"
#include "mixers/weight_gradient.h"

namespace mneme {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

kernels::LayerNorm kernel_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const std::size_t D = extent(weight, 0);
  return {static_cast<std::size_t>(x.numel()) / D, D, static_cast<float>(eps), weight.data_ptr<float>(),
          bias.data_ptr<float>()};
}

// Returns the norm, and the sum if there is one.
class AddAndNorm : public Operation<AddAndNorm> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& first, const c10::optional<Tensor>& second,
                               const Tensor& weight, const Tensor& bias, double eps) {
    const Tensor a = first.contiguous(), b = second ? second->contiguous() : Tensor();
    Tensor sum = second ? torch::empty_like(a) : a, normal = torch::empty_like(a);
    kernels::layer_norm(kernel_norm(a, weight, bias, eps), a.data_ptr<float>(), second ? b.data_ptr<float>() : nullptr,
                        sum.data_ptr<float>(), normal.data_ptr<float>());
    context->save_for_backward({sum, weight, bias});
    context->saved_data["eps"] = eps;
    context->set_materialize_grads(false);
    return second ? variable_list{normal, sum} : variable_list{normal};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &sum = saved[0], &weight = saved[1], &bias = saved[2];
    const bool two = gradients.size() == 2;
    const Tensor through = two && gradients[1].defined() ? gradients[1].contiguous() : Tensor();
    if (!gradients[0].defined()) return {through, two ? through : Tensor(), Tensor(), Tensor(), Tensor()};
    const Tensor dy = gradients[0].contiguous();
    Tensor dsum = torch::empty_like(sum);
    WeightGradient dweight(weight, true), dbias(bias, true);
    kernels::layer_norm_backward(kernel_norm(sum, weight, bias, context->saved_data["eps"].toDouble()),
                                 sum.data_ptr<float>(), dy.data_ptr<float>(),
                                 through.defined() ? through.data_ptr<float>() : nullptr, dsum.data_ptr<float>(),
                                 dweight.data(), dbias.data());
    return {dsum, two ? dsum : Tensor(), dweight.result(), dbias.result(), Tensor()};
  }
};

}  // namespace

NormedSum add_and_norm(const Tensor& a, const Tensor& b, const torch::nn::LayerNorm& norm) {
  const Tensor &weight = norm->weight, &bias = norm->bias;
  if (!use_kernels(a) || (b.defined() && !use_kernels(b)) || !use_kernels(weight)) {
    const Tensor sum = b.defined() ? a + b : a;
    return {sum, torch::layer_norm(sum, {weight.size(0)}, weight, bias, norm->options.eps())};
  }
  const variable_list out =
      AddAndNorm::apply(a, b.defined() ? c10::optional<Tensor>(b) : c10::nullopt, weight, bias, norm->options.eps());
  return {b.defined() ? out[1] : a, out[0]};
}

}  // namespace mneme
