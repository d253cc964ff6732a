#include "ops/layer_norm.h"

#include "kernels/dense/layer_norm.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/positions.h"
#include "ops/tensors.h"
#include "ops/weight_gradient.h"

namespace mneme::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

kernels::LayerNorm kernel_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const std::size_t D = extent(weight, 0);
  return {static_cast<std::size_t>(x.numel()) / D, D, static_cast<float>(eps), weight.data_ptr<float>(),
          bias.data_ptr<float>()};
}

// Returns the norm and the sum, or its rows. That both come from here saves the sum of their gradients.
class AddAndNorm : public Operation<AddAndNorm> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& first, const c10::optional<Tensor>& second,
                               const Tensor& weight, const Tensor& bias, const c10::optional<Tensor>& rows,
                               double eps) {
    const Tensor a = first.contiguous(), b = second ? second->contiguous() : Tensor();
    Tensor sum = second ? torch::empty_like(a) : a, normal = torch::empty_like(a);
    kernels::layer_norm(kernel_norm(a, weight, bias, eps), a.data_ptr<float>(), second ? b.data_ptr<float>() : nullptr,
                        sum.data_ptr<float>(), normal.data_ptr<float>());
    context->save_for_backward({sum, weight, bias, rows ? *rows : Tensor()});
    context->saved_data["eps"] = eps;
    context->saved_data["two"] = second.has_value();
    context->set_materialize_grads(false);
    return {normal, rows ? select_positions(sum, *rows) : sum};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &sum = saved[0], &weight = saved[1], &bias = saved[2], &rows = saved[3];
    Tensor through = gradients[1].defined() ? gradients[1].contiguous() : Tensor();
    if (rows.defined() && !gradients[0].defined()) through = add_at(torch::zeros_like(sum), rows, through);
    Tensor dsum = through;
    WeightGradient dweight(weight, gradients[0].defined()), dbias(bias, gradients[0].defined());
    if (gradients[0].defined()) {
      const Tensor dy = gradients[0].contiguous();
      const bool dense = through.defined() && !rows.defined();
      dsum = torch::empty_like(sum);
      kernels::layer_norm_backward(kernel_norm(sum, weight, bias, context->saved_data["eps"].toDouble()),
                                   sum.data_ptr<float>(), dy.data_ptr<float>(),
                                   dense ? through.data_ptr<float>() : nullptr, dsum.data_ptr<float>(), dweight.data(),
                                   dbias.data());
      if (rows.defined()) add_at(dsum, rows, through);
    }
    return {dsum,    context->saved_data["two"].toBool() ? dsum : Tensor(), dweight.result(), dbias.result(), Tensor(),
            Tensor()};
  }

 private:
  // to [.., D] += from [R, D] at those rows. libtorch's index_add_ takes a microsecond a row.
  static Tensor add_at(const Tensor& to, const Tensor& rows, const Tensor& from) {
    if (!from.defined()) return to;
    const std::int64_t* at = rows.data_ptr<std::int64_t>();
    const std::int64_t D = to.size(-1);
    for (std::int64_t r = 0; r < rows.size(0); ++r) {
      float* row = to.data_ptr<float>() + at[r] * D;
      const float* added = from.data_ptr<float>() + r * D;
      for (std::int64_t i = 0; i < D; ++i) row[i] += added[i];
    }
    return to;
  }
};

}  // namespace

NormedSum add_and_norm(const Tensor& a, const Tensor& b, const torch::nn::LayerNorm& norm, const Tensor& rows) {
  const Tensor &weight = norm->weight, &bias = norm->bias;
  const auto optional = [](const Tensor& x) { return x.defined() ? c10::optional<Tensor>(x) : c10::nullopt; };
  if (!use_kernels(a) || (b.defined() && !use_kernels(b)) || !use_kernels(weight)) {
    const Tensor sum = b.defined() ? a + b : a;
    return {rows.defined() ? select_positions(sum, rows) : sum,
            torch::layer_norm(sum, {weight.size(0)}, weight, bias, norm->options.eps())};
  }
  const variable_list out = AddAndNorm::apply(a, optional(b), weight, bias, optional(rows), norm->options.eps());
  return {out[1], out[0]};
}

}  // namespace mneme::ops
