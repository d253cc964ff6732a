#include "ops/gated_scan.h"

#include <vector>

#include "kernels/scan/gated_scan.h"
#include "ops/matrix_step.h"
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
const std::int64_t* indices_of(const torch::Tensor& positions) {
  static constexpr std::int64_t kNone = 0;
  return positions.numel() == 0 ? &kNone : positions.data_ptr<std::int64_t>();
}

struct GatedScanTensors {
  torch::Tensor q, k, v;            // with even rows
  torch::Tensor log_decay, weight;  // with even rows, or none
  torch::Tensor positions;          // contiguous; none: all
  torch::Tensor states;             // of the kernel, for its backward pass

  variable_list list() const { return {q, k, v, log_decay, weight, positions, states}; }

  kernels::GatedScanInput input() const {
    const Decay decay = decay_kind(log_decay);
    return {.B = extent(q, 0),
            .L = extent(q, 1),
            .H = extent(v, 2),
            .G = extent(q, 2),
            .K = extent(q, 3),
            .V = extent(v, 3),
            .q = rows_of(q),
            .k = rows_of(k),
            .v = rows_of(v),
            .decay = decay,
            .g = decay == Decay::constant ? kernels::Rows{floats(log_decay), 0} : rows_of(log_decay),
            .w = rows_of(weight),
            .positions = positions.defined() ? indices_of(positions) : nullptr,
            .R = positions.defined() ? extent(positions, 0) : 0};
  }
};

class GatedScan : public Operation<GatedScan> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const c10::optional<torch::Tensor>& decay,
                               const c10::optional<torch::Tensor>& weight,
                               const c10::optional<torch::Tensor>& positions, bool differentiable) {
    GatedScanTensors t{with_even_rows(q),
                       with_even_rows(k),
                       with_even_rows(v),
                       decay && decay->dim() > 1 ? with_even_rows(*decay) : value_of(decay),
                       weight ? with_even_rows(*weight) : torch::Tensor(),
                       positions ? positions->contiguous() : torch::Tensor(),
                       {}};
    const auto in = t.input();
    torch::Tensor out = positions ? torch::empty({positions->size(0), v.size(2), v.size(3)}, v.options())
                                  : torch::empty(v.sizes(), v.options());
    if (differentiable) t.states = torch::empty({static_cast<std::int64_t>(in.states_size())}, v.options());
    kernels::gated_scan(in, floats(out), {floats(t.states)});
    context->save_for_backward(t.list());
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<GatedScanTensors>(context->get_saved_variables());
    const auto in = t.input();
    const torch::Tensor dout = gradients[0].contiguous();
    const auto room = [&](const torch::Tensor& tensor) { return room_for(tensor, dout.options()); };
    const bool decays = in.decay == Decay::head || in.decay == Decay::channel;
    const torch::Tensor dq = room(t.q), dk = room(t.k), dv = room(t.v),
                        dg = decays ? room(t.log_decay) : torch::Tensor(), dw = room(t.weight);
    kernels::gated_scan_backward(in, {floats(t.states)}, floats(dout),
                                 {floats(dq), floats(dk), floats(dv), floats(dg), floats(dw)});
    return {dq, dk, dv, dg, dw, torch::Tensor(), torch::Tensor()};
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
  return GatedScan::apply(q, k, v, optional(log_decay), optional(weight), optional(positions.indices()),
                          differentiable && torch::GradMode::is_enabled());
}

torch::Tensor gated_scan_step(torch::Tensor& S, const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                              const torch::Tensor& log_decay) {
  const std::int64_t H = v.size(1), shared = H / q.size(1);
  const auto per_head = [&](const torch::Tensor& x) { return shared == 1 ? x : x.repeat_interleave(shared, 1); };
  if (use_kernels(v) && !torch::GradMode::is_enabled()) {
    torch::Tensor a = log_decay.defined() ? torch::exp(log_decay) : log_decay;  // [H], [B, H] or [B, G, K]
    if (a.defined()) a = a.dim() == 3 ? per_head(a) : a.expand({v.size(0), H}).unsqueeze(2);
    return matrix_step(S, per_head(q), per_head(k), v, a, {});
  }
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
