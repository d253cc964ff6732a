#include "ops/gated_conv.h"

#include "core/error.h"
#include "kernels/conv/conv_gates.h"
#include "kernels/conv/long_conv.h"
#include "ops/long_conv.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct GatedConvTensors {
  torch::Tensor u, kernel, skip;  // [B, L, 3C], [K, C], [C]: contiguous
  torch::Tensor v, g;             // [B, L, C]: what opening gave, what closing left

  variable_list list() const { return {u, kernel, skip, v, g}; }

  kernels::ConvGatesInput gates() const {
    return {extent(u, 0), extent(u, 1), extent(skip, 0), floats(u), floats(skip)};
  }
  kernels::LongConvInput conv() const {
    return {{extent(u, 0), extent(u, 1), extent(kernel, 0), extent(kernel, 1)}, floats(v), floats(kernel)};
  }
};

class GatedLongConv : public Operation<GatedLongConv> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& u, const torch::Tensor& kernel,
                               const torch::Tensor& skip) {
    GatedConvTensors t{u.contiguous(), kernel.contiguous(), skip.contiguous(), {}, {}};
    t.v = torch::empty({u.size(0), u.size(1), skip.size(0)}, u.options().requires_grad(false));
    t.g = torch::empty_like(t.v);
    torch::Tensor out = torch::empty_like(t.v);
    kernels::open_gate(t.gates(), floats(t.v));
    kernels::long_conv(t.conv(), floats(t.g));
    kernels::close_gate(t.gates(), floats(out), {floats(t.v), floats(t.g)});
    context->save_for_backward(t.list());
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<GatedConvTensors>(context->get_saved_variables());
    const torch::Tensor dout = gradients[0].contiguous(), dy = torch::empty_like(t.v), dv = torch::empty_like(t.v);
    torch::Tensor du = torch::empty_like(t.u), dkernel = torch::empty_like(t.kernel), dskip = torch::empty_like(t.skip);
    kernels::close_gate_backward(t.gates(), {floats(t.v), floats(t.g)}, floats(dout),
                                 {floats(dy), floats(du), floats(dskip)});
    kernels::long_conv_backward(t.conv(), floats(dy), {floats(dv), floats(dkernel)});
    kernels::open_gate_backward(t.gates(), floats(dy), floats(dv), floats(du));
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
