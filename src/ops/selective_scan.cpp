#include "ops/selective_scan.h"

#include <vector>

#include "kernels/scan/selective_scan.h"
#include "kernels/scan/token_step.h"
#include "ops/next_state.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct SelectiveScanTensors {
  torch::Tensor u, pre, A, Bm, Cm, D;  // with even rows, or contiguous
  torch::Tensor z;                     // or none
  torch::Tensor states;                // of the kernel, for its backward pass

  variable_list list() const { return {u, pre, A, Bm, Cm, D, z, states}; }

  kernels::SelectiveScanInput input() const {
    return {.B = extent(u, 0),
            .L = extent(u, 1),
            .E = extent(u, 2),
            .N = extent(A, 1),
            .u = rows_of(u),
            .pre = rows_of(pre),
            .A = floats(A),
            .Bm = rows_of(Bm),
            .Cm = rows_of(Cm),
            .D = floats(D),
            .z = rows_of(z)};
  }
};

class SelectiveScan : public Operation<SelectiveScan> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& u, const torch::Tensor& pre,
                               const torch::Tensor& A, const torch::Tensor& Bm, const torch::Tensor& Cm,
                               const torch::Tensor& D, const c10::optional<torch::Tensor>& z, bool differentiable) {
    SelectiveScanTensors t{with_even_rows(u),
                           with_even_rows(pre),
                           A.contiguous(),
                           with_even_rows(Bm),
                           with_even_rows(Cm),
                           D.contiguous(),
                           z ? with_even_rows(*z) : torch::Tensor(),
                           {}};
    const auto in = t.input();
    torch::Tensor out = torch::empty(u.sizes(), u.options());
    if (differentiable) t.states = torch::empty({static_cast<std::int64_t>(in.states_size())}, u.options());
    kernels::selective_scan(in, floats(out), {floats(t.states)});
    context->save_for_backward(t.list());
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<SelectiveScanTensors>(context->get_saved_variables());
    const torch::Tensor dout = gradients[0].contiguous();
    const auto room = [&](const torch::Tensor& tensor) { return room_for(tensor, dout.options()); };
    const torch::Tensor du = room(t.u), dpre = room(t.pre), dA = room(t.A), dBm = room(t.Bm), dCm = room(t.Cm),
                        dD = room(t.D), dz = room(t.z);
    kernels::selective_scan_backward(
        t.input(), {floats(t.states)}, floats(dout),
        {floats(du), floats(dpre), floats(dA), floats(dBm), floats(dCm), floats(dD), floats(dz)});
    return {du, dpre, dA, dBm, dCm, dD, dz, torch::Tensor()};
  }
};

torch::Tensor kernel_step(torch::Tensor& h, const torch::Tensor& u, const torch::Tensor& pre, const torch::Tensor& A,
                          const torch::Tensor& Bm, const torch::Tensor& Cm, const torch::Tensor& D,
                          const torch::Tensor& z) {
  // A token is a sequence of one.
  const auto token = [](const torch::Tensor& x) { return x.defined() ? with_even_rows(x.unsqueeze(1)) : x; };
  const SelectiveScanTensors t{token(u),  token(pre),     A.contiguous(), token(Bm),
                               token(Cm), D.contiguous(), token(z),       {}};
  torch::Tensor after = room_for_next(h), y = torch::empty(u.sizes(), u.options());
  const torch::Tensor before = h.contiguous();
  kernels::selective_step(t.input(), floats(before), floats(after), floats(y));
  h = after;
  return y;
}

torch::Tensor composed_scan(const torch::Tensor& u, const torch::Tensor& pre, const torch::Tensor& A,
                            const torch::Tensor& Bm, const torch::Tensor& Cm, const torch::Tensor& D,
                            const torch::Tensor& z) {
  torch::Tensor h = torch::zeros({u.size(0), u.size(2), A.size(1)}, u.options());
  std::vector<torch::Tensor> y;
  for (std::int64_t t = 0; t < u.size(1); ++t)
    y.push_back(selective_scan_step(h, u.select(1, t), pre.select(1, t), A, Bm.select(1, t), Cm.select(1, t), D,
                                    z.defined() ? z.select(1, t) : z));
  return torch::stack(y, 1);
}

}  // namespace

torch::Tensor selective_scan(const torch::Tensor& u, const torch::Tensor& pre, const torch::Tensor& A,
                             const torch::Tensor& Bm, const torch::Tensor& Cm, const torch::Tensor& D,
                             const torch::Tensor& z) {
  if (!use_kernels(u)) return composed_scan(u, pre, A, Bm, Cm, D, z);
  bool differentiable = false;
  for (const torch::Tensor* input : {&u, &pre, &A, &Bm, &Cm, &D, &z})
    differentiable = differentiable || (input->defined() && input->requires_grad());
  return SelectiveScan::apply(u, pre, A, Bm, Cm, D, optional(z), differentiable && torch::GradMode::is_enabled());
}

torch::Tensor selective_scan_step(torch::Tensor& h, const torch::Tensor& u, const torch::Tensor& pre,
                                  const torch::Tensor& A, const torch::Tensor& Bm, const torch::Tensor& Cm,
                                  const torch::Tensor& D, const torch::Tensor& z) {
  if (use_kernels(u) && !torch::GradMode::is_enabled()) return kernel_step(h, u, pre, A, Bm, Cm, D, z);
  const torch::Tensor delta = torch::softplus(pre), input = (delta * u).unsqueeze(2);
  const torch::Tensor rate = delta.unsqueeze(2) * A;  // [B, E, N]
  // Without a backward pass, one tensor of the state's size is enough: the old state stays as it is.
  h = torch::GradMode::is_enabled() ? torch::exp(rate) * h + input * Bm.unsqueeze(1)
                                    : rate.exp_().mul_(h).addcmul_(input, Bm.unsqueeze(1));
  const torch::Tensor y = torch::matmul(h, Cm.unsqueeze(2)).squeeze(2) + D * u;
  return z.defined() ? y * torch::silu(z) : y;
}

}  // namespace mneme::ops
