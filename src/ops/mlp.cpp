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

struct MlpTensors {
  Tensor x, weight1, bias1, weight2, bias2;
  Tensor h;  // of the kernel, for its backward pass

  variable_list list() const { return {x, weight1, bias1, weight2, bias2, h}; }

  kernels::MlpInput input() const {
    const std::size_t H = extent(weight1, 0), D = extent(weight1, 1);
    return {static_cast<std::size_t>(x.numel()) / D,
            D,
            H,
            floats(x),
            floats(weight1),
            floats(bias1),
            floats(weight2),
            floats(bias2)};
  }
};

class GeluMlp : public Operation<GeluMlp> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& weight1, const Tensor& bias1,
                        const Tensor& weight2, const Tensor& bias2) {
    MlpTensors t{input.contiguous(), weight1, bias1, weight2, bias2, {}};
    std::vector<std::int64_t> sizes = t.x.sizes().vec();
    Tensor out = torch::empty(sizes, t.x.options());
    sizes.back() = weight1.size(0);
    t.h = torch::empty(sizes, t.x.options());
    kernels::mlp(t.input(), floats(out), {floats(t.h)});
    context->save_for_backward(t.list());
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<MlpTensors>(context->get_saved_variables());
    const Tensor dout = gradients[0].contiguous();
    Tensor dx = torch::empty_like(t.x);
    const WeightGradient dweight1(t.weight1, true), dbias1(t.bias1, true), dweight2(t.weight2, true),
        dbias2(t.bias2, true);
    kernels::mlp_backward(t.input(), {floats(t.h)}, floats(dout),
                          {floats(dx), dweight1.data(), dbias1.data(), dweight2.data(), dbias2.data()});
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
