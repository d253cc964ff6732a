#include "ops/gated_conv.h"

#include "core/error.h"
#include "kernels/conv/conv_gates.h"
#include "kernels/conv/long_conv.h"
#include "ops/long_conv.h"
#include "ops/operation.h"
#include "ops/path.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::size_t size(const torch::Tensor& tensor, int axis) { return static_cast<std::size_t>(tensor.size(axis)); }

kernels::ConvGates gates_of(const torch::Tensor& u, const torch::Tensor& skip) {
  return {size(u, 0), size(u, 1), size(skip, 0), u.data_ptr<float>(), skip.data_ptr<float>()};
}

kernels::LongConvSizes sizes_of(const torch::Tensor& u, const torch::Tensor& kernel) {
  return {size(u, 0), size(u, 1), size(kernel, 0), size(kernel, 1)};
}

class GatedLongConv : public Operation<GatedLongConv> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& u_in, const torch::Tensor& kernel_in,
                               const torch::Tensor& skip_in) {
    const torch::Tensor u = u_in.contiguous(), kernel = kernel_in.contiguous(), skip = skip_in.contiguous();
    const kernels::ConvGates gates = gates_of(u, skip);
    const torch::Tensor v = torch::empty({u.size(0), u.size(1), skip.size(0)}, u.options().requires_grad(false));
    const torch::Tensor g = torch::empty_like(v);  // the convolution, then with the skip
    torch::Tensor z = torch::empty_like(v);
    kernels::open_gate(gates, v.data_ptr<float>());
    kernels::long_conv({sizes_of(u, kernel), v.data_ptr<float>(), kernel.data_ptr<float>(), g.data_ptr<float>()});
    kernels::close_gate(gates, v.data_ptr<float>(), g.data_ptr<float>(), z.data_ptr<float>());
    context->save_for_backward({u, kernel, skip, v, g});
    return z;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &u = saved[0], &kernel = saved[1], &skip = saved[2], &v = saved[3], &g = saved[4];
    const torch::Tensor dz = gradients[0].contiguous(), dy = torch::empty_like(v), dv = torch::empty_like(v);
    torch::Tensor du = torch::empty_like(u), dkernel = torch::empty_like(kernel), dskip = torch::empty_like(skip);
    const kernels::ConvGates gates = gates_of(u, skip);
    kernels::close_gate_backward(gates, {v.data_ptr<float>(), g.data_ptr<float>(), dz.data_ptr<float>(),
                                         dy.data_ptr<float>(), du.data_ptr<float>(), dskip.data_ptr<float>()});
    kernels::long_conv_backward({sizes_of(u, kernel), v.data_ptr<float>(), kernel.data_ptr<float>(),
                                 dy.data_ptr<float>(), dv.data_ptr<float>(), dkernel.data_ptr<float>()});
    kernels::open_gate_backward(gates, dy.data_ptr<float>(), dv.data_ptr<float>(), du.data_ptr<float>());
    return {du, dkernel, dskip};
  }
};

}  // namespace

torch::Tensor gated_long_conv(const torch::Tensor& u, const torch::Tensor& kernel, const torch::Tensor& skip) {
  require(u.dim() == 3 && kernel.dim() == 2 && skip.dim() == 1 && u.size(2) == 3 * skip.size(0) &&
              kernel.size(1) == skip.size(0),
          "u [B, L, 3C], kernel [K, C] and skip [C]");
  if (use_kernels(u)) return GatedLongConv::apply(u, kernel, skip);
  const auto parts = u.chunk(3, 2);
  const torch::Tensor v = parts[2] * parts[0];
  return torch::addcmul(long_conv(v, kernel), v, skip) * parts[1];
}

}  // namespace mneme::ops
