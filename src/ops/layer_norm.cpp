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

// b may be missing.
kernels::LayerNormInput kernel_input(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias,
                                     double eps) {
  const std::size_t D = extent(weight, 0);
  return {.T = static_cast<std::size_t>(a.numel()) / D,
          .D = D,
          .eps = static_cast<float>(eps),
          .weight = floats(weight),
          .bias = floats(bias),
          .a = floats(a),
          .b = floats(b)};
}

struct NormTensors {
  Tensor sum, weight, bias;
  Tensor positions;  // or none
};

// Returns the norm and the sum, or the sum at those positions. That both come from here saves the sum of their
// gradients.
class AddAndNorm : public Operation<AddAndNorm> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& first, const c10::optional<Tensor>& second,
                               const Tensor& weight, const Tensor& bias, const c10::optional<Tensor>& positions,
                               double eps) {
    const Tensor a = first.contiguous(), b = second ? second->contiguous() : Tensor();
    Tensor sum = second ? torch::empty_like(a) : a, normal = torch::empty_like(a);
    kernels::layer_norm(kernel_input(a, b, weight, bias, eps), floats(normal), {floats(sum)});
    context->save_for_backward({sum, weight, bias, value_of(positions)});
    context->saved_data["eps"] = eps;
    context->saved_data["two"] = second.has_value();
    context->set_materialize_grads(false);
    return {normal, positions ? select_positions(sum, *positions) : sum};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto [sum, weight, bias, positions] = named<NormTensors>(context->get_saved_variables());
    Tensor through = gradients[1].defined() ? gradients[1].contiguous() : Tensor();
    if (positions.defined() && !gradients[0].defined()) through = add_at(torch::zeros_like(sum), positions, through);
    Tensor dsum = through;
    WeightGradient dweight(weight, gradients[0].defined()), dbias(bias, gradients[0].defined());
    if (gradients[0].defined()) {
      const Tensor dout = gradients[0].contiguous();
      dsum = torch::empty_like(sum);
      kernels::layer_norm_backward(kernel_input(sum, {}, weight, bias, context->saved_data["eps"].toDouble()),
                                   {floats(sum)}, floats(dout),
                                   {.dr = floats(dsum),
                                    .dweight = dweight.data(),
                                    .dbias = dbias.data(),
                                    .through = positions.defined() ? nullptr : floats(through)});
      if (positions.defined()) add_at(dsum, positions, through);
    }
    return {dsum,    context->saved_data["two"].toBool() ? dsum : Tensor(), dweight.result(), dbias.result(), Tensor(),
            Tensor()};
  }

 private:
  // to [.., D] += from [R, D] at those positions. libtorch's index_add_ takes a microsecond a row.
  static Tensor add_at(const Tensor& to, const Tensor& positions, const Tensor& from) {
    if (!from.defined()) return to;
    const std::int64_t* at = positions.data_ptr<std::int64_t>();
    const std::int64_t D = to.size(-1);
    for (std::int64_t r = 0; r < positions.size(0); ++r) {
      float* row = to.data_ptr<float>() + at[r] * D;
      const float* added = from.data_ptr<float>() + r * D;
      for (std::int64_t i = 0; i < D; ++i) row[i] += added[i];
    }
    return to;
  }
};

}  // namespace

NormedSum add_and_norm(const Tensor& a, const Tensor& b, const torch::nn::LayerNorm& norm, const Tensor& positions) {
  const Tensor &weight = norm->weight, &bias = norm->bias;
  if (!use_kernels(a) || (b.defined() && !use_kernels(b)) || !use_kernels(weight)) {
    const Tensor sum = b.defined() ? a + b : a;
    return {positions.defined() ? select_positions(sum, positions) : sum,
            torch::layer_norm(sum, {weight.size(0)}, weight, bias, norm->options.eps())};
  }
  const variable_list out = AddAndNorm::apply(a, optional(b), weight, bias, optional(positions), norm->options.eps());
  return {out[1], out[0]};
}

}  // namespace mneme::ops
