#include "ops/mlp.h"

#include "kernels/dense/mlp.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"
#include "ops/weight_gradient.h"

namespace mneme::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Larger matrices are left to OpenBLAS, which takes whole products, not blocks of tokens.
constexpr std::int64_t kLargest = 262144;

kernels::Mlp kernel_input(const Tensor& x, const Tensor& weight1, const Tensor& bias1, const Tensor& weight2,
                          const Tensor& bias2) {
  const std::size_t H = extent(weight1, 0), D = extent(weight1, 1);
  return {static_cast<std::size_t>(x.numel()) / D,
          D,
          H,
          x.data_ptr<float>(),
          weight1.data_ptr<float>(),
          bias1.data_ptr<float>(),
          weight2.data_ptr<float>(),
          bias2.data_ptr<float>()};
}

class GeluMlp : public Operation<GeluMlp> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& weight1, const Tensor& bias1,
                        const Tensor& weight2, const Tensor& bias2) {
    const Tensor x = input.contiguous();
    std::vector<std::int64_t> sizes = x.sizes().vec();
    Tensor y = torch::empty(sizes, x.options());
    sizes.back() = weight1.size(0);
    Tensor h = torch::empty(sizes, x.options());
    kernels::mlp(kernel_input(x, weight1, bias1, weight2, bias2), h.data_ptr<float>(), y.data_ptr<float>());
    context->save_for_backward({x, h, weight1, bias1, weight2, bias2});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], &h = saved[1];
    const Tensor dy = gradients[0].contiguous();
    Tensor dx = torch::empty_like(x);
    const WeightGradient dweight1(saved[2], true), dbias1(saved[3], true), dweight2(saved[4], true),
        dbias2(saved[5], true);
    kernels::mlp_backward(kernel_input(x, saved[2], saved[3], saved[4], saved[5]), h.data_ptr<float>(),
                          dy.data_ptr<float>(),
                          {dx.data_ptr<float>(), dweight1.data(), dbias1.data(), dweight2.data(), dbias2.data()});
    return {dx, dweight1.result(), dbias1.result(), dweight2.result(), dbias2.result()};
  }
};

}  // namespace

Tensor gelu_mlp(const Tensor& x, const Linear& first, const Linear& second) {
  const bool fits = use_kernels(x) && use_kernels(first->weight) && x.numel() > 0;
  if (!fits || first->weight.numel() > kLargest) return second->forward(torch::gelu(first->forward(x)));
  return GeluMlp::apply(x, first->weight, first->bias, second->weight, second->bias);
}

}  // namespace mneme::ops
