#include "nn/token_shift.h"

#include "kernels/conv/token_blend.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// saved: x [B, L, D] and the shares [M, D].
kernels::TokenBlend kernel_input(const variable_list& saved) {
  const torch::Tensor &x = saved[0], &shares = saved[1];
  kernels::TokenBlend in{ops::extent(x, 0),      ops::extent(x, 1),   ops::extent(x, 2),
                         ops::extent(shares, 0), x.data_ptr<float>(), {}};
  for (std::size_t m = 0; m < in.M; ++m) in.share[m] = shares.data_ptr<float>() + m * in.C;
  return in;
}

class Blends : public ops::Operation<Blends> {
 public:
  static variable_list forward(AutogradContext* context, const torch::Tensor& x, const torch::Tensor& shares) {
    const variable_list saved = {x.contiguous(), shares};
    const kernels::TokenBlend in = kernel_input(saved);
    variable_list blends;
    kernels::PerBlend<float*> outputs{};
    for (std::size_t m = 0; m < in.M; ++m) {
      blends.push_back(torch::empty_like(saved[0]));
      outputs[m] = blends[m].data_ptr<float>();
    }
    kernels::token_blend(in, outputs);
    context->save_for_backward(saved);
    return blends;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    torch::Tensor dx = torch::empty_like(saved[0]), dshares = torch::empty_like(saved[1]);
    kernels::TokenBlendGradients to{{}, dx.data_ptr<float>(), {}};
    const kernels::TokenBlend in = kernel_input(saved);
    for (std::size_t m = 0; m < in.M; ++m) {
      gradients[m] = gradients[m].defined() ? gradients[m].contiguous() : torch::zeros_like(saved[0]);
      to.dy[m] = gradients[m].data_ptr<float>();
      to.dshare[m] = dshares.data_ptr<float>() + m * in.C;
    }
    kernels::token_blend_backward(in, to);
    return {dx, dshares};
  }
};

}  // namespace

std::vector<torch::Tensor> token_blends(const torch::Tensor& x, const torch::Tensor& previous,
                                        const std::vector<torch::Tensor>& shares) {
  const torch::Tensor back = previous - x;
  std::vector<torch::Tensor> blends;
  for (const torch::Tensor& share : shares) blends.push_back(torch::addcmul(x, back, share));
  return blends;
}

std::vector<torch::Tensor> token_blends(const torch::Tensor& x, const std::vector<torch::Tensor>& shares) {
  if (ops::use_kernels(x)) return Blends::apply(x, torch::cat(shares).view({-1, x.size(2)}));
  return token_blends(x, torch::constant_pad_nd(x, {0, 0, 1, -1}), shares);
}

}  // namespace mneme::nn
