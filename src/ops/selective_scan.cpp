#include "ops/selective_scan.h"

#include <vector>

#include "kernels/scan/selective_scan.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

kernels::SelectiveScanInput kernel_input(const variable_list& v) {
  const torch::Tensor &u = v[0], &A = v[2];
  return {.B = extent(u, 0),
          .L = extent(u, 1),
          .E = extent(u, 2),
          .N = extent(A, 1),
          .u = rows_of(u),
          .pre = rows_of(v[1]),
          .A = A.data_ptr<float>(),
          .Bm = rows_of(v[3]),
          .Cm = rows_of(v[4]),
          .D = v[5].data_ptr<float>(),
          .z = rows_of(v[6])};
}

class SelectiveScan : public Operation<SelectiveScan> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& u, const torch::Tensor& pre,
                               const torch::Tensor& A, const torch::Tensor& Bm, const torch::Tensor& Cm,
                               const torch::Tensor& D, const c10::optional<torch::Tensor>& gate, bool differentiable) {
    const torch::Tensor z = gate.value_or(torch::Tensor());
    variable_list saved = {with_even_rows(u),
                           with_even_rows(pre),
                           A.contiguous(),
                           with_even_rows(Bm),
                           with_even_rows(Cm),
                           D.contiguous(),
                           z.defined() ? with_even_rows(z) : z};
    const auto in = kernel_input(saved);
    torch::Tensor y = torch::empty(u.sizes(), u.options());
    torch::Tensor checkpoints;
    if (differentiable)
      checkpoints = torch::empty({static_cast<std::int64_t>(kernels::selective_scan_checkpoint_size(in))}, u.options());
    kernels::selective_scan(in, y.data_ptr<float>(), differentiable ? checkpoints.data_ptr<float>() : nullptr);
    saved.push_back(checkpoints);
    context->save_for_backward(saved);
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const variable_list saved = context->get_saved_variables();
    const auto in = kernel_input(saved);
    const torch::Tensor dy = outputs[0].contiguous();
    variable_list gradients;
    for (std::size_t i = 0; i < 7; ++i)
      gradients.push_back(saved[i].defined() ? torch::empty(saved[i].sizes(), dy.options()) : torch::Tensor());
    const auto to = [&](std::size_t i) { return gradients[i].defined() ? gradients[i].data_ptr<float>() : nullptr; };
    kernels::selective_scan_backward(
        in, saved[7].data_ptr<float>(), dy.data_ptr<float>(),
        {.du = to(0), .dpre = to(1), .dA = to(2), .dBm = to(3), .dCm = to(4), .dD = to(5), .dz = to(6)});
    gradients.emplace_back();
    return gradients;
  }
};

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
  // libtorch takes an absent tensor only as an empty optional.
  const c10::optional<torch::Tensor> gate = z.defined() ? c10::optional<torch::Tensor>(z) : c10::nullopt;
  return SelectiveScan::apply(u, pre, A, Bm, Cm, D, gate, differentiable && torch::GradMode::is_enabled());
}

torch::Tensor selective_scan_step(torch::Tensor& h, const torch::Tensor& u, const torch::Tensor& pre,
                                  const torch::Tensor& A, const torch::Tensor& Bm, const torch::Tensor& Cm,
                                  const torch::Tensor& D, const torch::Tensor& z) {
  const torch::Tensor delta = torch::softplus(pre);
  h = torch::exp(delta.unsqueeze(2) * A) * h + (delta * u).unsqueeze(2) * Bm.unsqueeze(1);  // [B, E, N]
  const torch::Tensor y = torch::matmul(h, Cm.unsqueeze(2)).squeeze(2) + D * u;
  return z.defined() ? y * torch::silu(z) : y;
}

}  // namespace mneme::ops
