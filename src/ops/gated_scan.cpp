#include "ops/gated_scan.h"

#include <vector>

#include "kernels/scan/gated_scan.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using kernels::Decay;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Decay decay_kind(const torch::Tensor& log_decay) {
  if (!log_decay.defined()) return Decay::none;
  if (log_decay.dim() == 1) return Decay::constant;
  return log_decay.dim() == 3 ? Decay::head : Decay::channel;
}

// An empty selection still needs a non-null pointer: null means "all".
const std::int64_t* indices_of(const torch::Tensor& rows) {
  static constexpr std::int64_t kNone = 0;
  return rows.numel() == 0 ? &kNone : rows.data_ptr<std::int64_t>();
}

kernels::GatedScanInput kernel_input(const variable_list& x) {
  const torch::Tensor &q = x[0], &v = x[2], &g = x[3];
  const Decay decay = decay_kind(g);
  return {.B = extent(q, 0),
          .L = extent(q, 1),
          .H = extent(v, 2),
          .G = extent(q, 2),
          .K = extent(q, 3),
          .V = extent(v, 3),
          .q = rows_of(q),
          .k = rows_of(x[1]),
          .v = rows_of(v),
          .decay = decay,
          .g = decay == Decay::constant ? kernels::Rows{g.data_ptr<float>(), 0} : rows_of(g),
          .w = rows_of(x[4]),
          .positions = x[5].defined() ? indices_of(x[5]) : nullptr,
          .R = x[5].defined() ? extent(x[5], 0) : 0};
}

class GatedScan : public Operation<GatedScan> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const c10::optional<torch::Tensor>& decay,
                               const c10::optional<torch::Tensor>& weight, const c10::optional<torch::Tensor>& rows,
                               bool differentiable) {
    const torch::Tensor log_decay = decay.value_or(torch::Tensor());
    const bool per_token = log_decay.defined() && log_decay.dim() > 1;
    variable_list saved = {with_even_rows(q),
                           with_even_rows(k),
                           with_even_rows(v),
                           per_token ? with_even_rows(log_decay) : log_decay,
                           weight ? with_even_rows(*weight) : torch::Tensor(),
                           rows ? rows->contiguous() : torch::Tensor()};
    const auto in = kernel_input(saved);
    torch::Tensor o =
        rows ? torch::empty({rows->size(0), v.size(2), v.size(3)}, v.options()) : torch::empty(v.sizes(), v.options());
    torch::Tensor checkpoints;
    if (differentiable)
      checkpoints = torch::empty({static_cast<std::int64_t>(kernels::gated_scan_checkpoint_size(in))}, v.options());
    kernels::gated_scan(in, o.data_ptr<float>(), differentiable ? checkpoints.data_ptr<float>() : nullptr);
    saved.push_back(checkpoints);
    context->save_for_backward(saved);
    return o;
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const variable_list saved = context->get_saved_variables();
    const auto in = kernel_input(saved);
    const torch::Tensor d_o = outputs[0].contiguous();
    variable_list gradients;
    for (std::size_t i = 0; i < 5; ++i)
      gradients.push_back(saved[i].defined() ? torch::empty(saved[i].sizes(), d_o.options()) : torch::Tensor());
    const bool decays = in.decay == Decay::head || in.decay == Decay::channel;
    kernels::gated_scan_backward(in, saved[6].data_ptr<float>(), d_o.data_ptr<float>(),
                                 {.dq = gradients[0].data_ptr<float>(),
                                  .dk = gradients[1].data_ptr<float>(),
                                  .dv = gradients[2].data_ptr<float>(),
                                  .dg = decays ? gradients[3].data_ptr<float>() : nullptr,
                                  .dw = in.w.data ? gradients[4].data_ptr<float>() : nullptr});
    if (!decays) gradients[3] = torch::Tensor();
    gradients.resize(7);
    return gradients;
  }
};

torch::Tensor composed_scan(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                            const torch::Tensor& log_decay) {
  torch::Tensor S = torch::zeros({q.size(0), v.size(2), q.size(3), v.size(3)}, v.options());
  const bool per_token = log_decay.defined() && log_decay.dim() > 1;
  std::vector<torch::Tensor> o;
  for (std::int64_t t = 0; t < q.size(1); ++t)
    o.push_back(gated_scan_step(S, q.select(1, t), k.select(1, t), v.select(1, t),
                                per_token ? log_decay.select(1, t) : log_decay));
  return torch::stack(o, 1);
}

}  // namespace

torch::Tensor gated_scan(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                         const torch::Tensor& log_decay, const torch::Tensor& weight, const Positions& positions) {
  if (!use_kernels(v))
    return positions.of(composed_scan(q, k, weight.defined() ? v * weight.unsqueeze(-1) : v, log_decay));
  bool differentiable = false;
  for (const torch::Tensor* input : {&q, &k, &v, &log_decay, &weight})
    differentiable = differentiable || (input->defined() && input->requires_grad());
  // libtorch takes an absent tensor only as an empty optional.
  const auto optional = [](const torch::Tensor& x) {
    return x.defined() ? c10::optional<torch::Tensor>(x) : c10::nullopt;
  };
  return GatedScan::apply(q, k, v, optional(log_decay), optional(weight), optional(positions.indices()),
                          differentiable && torch::GradMode::is_enabled());
}

torch::Tensor gated_scan_step(torch::Tensor& S, const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                              const torch::Tensor& log_decay) {
  const std::int64_t H = v.size(1), shared = H / q.size(1);
  const auto per_head = [&](const torch::Tensor& x) { return shared == 1 ? x : x.repeat_interleave(shared, 1); };
  if (log_decay.defined()) {
    torch::Tensor a = torch::exp(log_decay);  // [H], [B, H] or [B, G, K]
    if (a.dim() == 3)
      a = per_head(a).unsqueeze(3);
    else
      a = a.unsqueeze(-1).unsqueeze(-1);
    S = S * a;
  }
  S = S + per_head(k).unsqueeze(3) * v.unsqueeze(2);  // [B, H, K, V]
  return torch::matmul(per_head(q).unsqueeze(2), S).squeeze(2);
}

}  // namespace mneme::ops
