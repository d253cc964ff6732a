#include "ops/token_blend.h"

#include "kernels/conv/token_blend.h"
#include "ops/operation.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct BlendTensors {
  torch::Tensor x, shares;  // [B, L, D], [M, D]

  kernels::TokenBlendInput input() const {
    kernels::TokenBlendInput in{extent(x, 0), extent(x, 1), extent(x, 2), extent(shares, 0), floats(x), {}};
    for (std::size_t m = 0; m < in.M; ++m) in.share[m] = floats(shares) + m * in.C;
    return in;
  }
};

class Blends : public Operation<Blends> {
 public:
  static variable_list forward(AutogradContext* context, const torch::Tensor& x, const torch::Tensor& shares) {
    const BlendTensors t{x.contiguous(), shares};
    const kernels::TokenBlendInput in = t.input();
    variable_list blends;
    kernels::PerBlend<float*> out{};
    for (std::size_t m = 0; m < in.M; ++m) {
      blends.push_back(torch::empty_like(t.x));
      out[m] = floats(blends[m]);
    }
    kernels::token_blend(in, out);
    context->save_for_backward({t.x, t.shares});
    return blends;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<BlendTensors>(context->get_saved_variables());
    torch::Tensor dx = torch::empty_like(t.x), dshares = torch::empty_like(t.shares);
    kernels::PerBlend<const float*> dout{};
    kernels::TokenBlendGradients to{floats(dx), {}};
    const kernels::TokenBlendInput in = t.input();
    for (std::size_t m = 0; m < in.M; ++m) {
      gradients[m] = gradients[m].defined() ? gradients[m].contiguous() : torch::zeros_like(t.x);
      dout[m] = floats(gradients[m]);
      to.dshare[m] = floats(dshares) + m * in.C;
    }
    kernels::token_blend_backward(in, dout, to);
    return {dx, dshares};
  }
};

}  // namespace

std::vector<torch::Tensor> token_blend(const torch::Tensor& x, const torch::Tensor& shares) {
  return Blends::apply(x, shares);
}

}  // namespace mneme::ops
