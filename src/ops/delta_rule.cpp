#include "ops/delta_rule.h"

#include <cmath>

#include "kernels/scan/delta_rule.h"
#include "ops/matrix_step.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct DeltaRuleTensors {
  torch::Tensor q, k, v, beta, g;  // contiguous; g is undefined without decay
  torch::Tensor errors, states;    // of the kernel, for its backward pass

  variable_list list() const { return {q, k, v, beta, g, errors, states}; }

  kernels::DeltaRuleInput input(bool normalise) const {
    const kernels::DeltaRuleShape shape{extent(q, 0), extent(q, 1), extent(k, 2),
                                        extent(q, 2), extent(q, 3), extent(v, 4)};
    const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(q.size(3))));
    return {shape, floats(q), floats(k), floats(v), floats(beta), floats(g), scale, normalise};
  }
  kernels::DeltaRuleSaved saved() const { return {floats(errors), floats(states)}; }
};

struct DeltaRule : Operation<DeltaRule> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const torch::Tensor& beta, const c10::optional<torch::Tensor>& g,
                               bool normalise, bool keep) {
    DeltaRuleTensors t{q.contiguous(),
                       k.contiguous(),
                       v.contiguous(),
                       beta.contiguous(),
                       g ? g->contiguous() : torch::Tensor(),
                       {},
                       {}};
    const kernels::DeltaRuleInput in = t.input(normalise);
    torch::Tensor out = torch::empty({q.size(0), q.size(1), q.size(2), v.size(4)}, q.options());
    if (keep) {
      t.errors = torch::empty({static_cast<std::int64_t>(in.shape.errors_size())}, q.options());
      t.states = torch::empty({static_cast<std::int64_t>(in.shape.states_size())}, q.options());
    }
    kernels::delta_rule(in, floats(out), t.saved());
    if (keep) {
      context->save_for_backward(t.list());
      context->saved_data["normalise"] = normalise;
    }
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<DeltaRuleTensors>(context->get_saved_variables());
    const torch::Tensor dout = gradients[0].contiguous();
    const torch::Tensor dq = torch::empty_like(t.q), dk = torch::empty_like(t.k), dv = torch::empty_like(t.v),
                        dbeta = torch::empty_like(t.beta),
                        dg = t.g.defined() ? torch::empty_like(t.g) : torch::Tensor();
    kernels::delta_rule_backward(t.input(context->saved_data["normalise"].toBool()), t.saved(), floats(dout),
                                 {floats(dq), floats(dk), floats(dv), floats(dbeta), floats(dg)});
    return {dq, dk, dv, dbeta, dg, torch::Tensor(), torch::Tensor()};
  }
};

torch::Tensor direction(const torch::Tensor& x) { return x * torch::rsqrt((x * x).sum(-1, true) + 1e-6); }

// One token whose queries and keys are normalised already.
torch::Tensor advance(torch::Tensor& S, const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                      const torch::Tensor& beta, const torch::Tensor& g) {
  const double scale = std::sqrt(static_cast<double>(q.size(-1)));
  if (use_kernels(q) && !torch::GradMode::is_enabled()) {
    torch::Tensor o;
    for (std::int64_t j = 0; j < k.size(1); ++j) {
      const torch::Tensor decay = g.defined() && j == 0 ? torch::exp(g).unsqueeze(-1) : torch::Tensor();
      o = matrix_step(S, q, k.select(1, j), v.select(1, j), decay, beta.select(1, j));
    }
    return o / scale;
  }
  if (g.defined()) S = S * torch::exp(g).unsqueeze(-1).unsqueeze(-1);
  for (std::int64_t j = 0; j < k.size(1); ++j) {
    const torch::Tensor key = k.select(1, j).unsqueeze(-1);                          // [B, H, K, 1]
    const torch::Tensor e = v.select(1, j).unsqueeze(-2) - (key * S).sum(-2, true);  // [B, H, 1, V]
    S = S + key * (beta.select(1, j).unsqueeze(-1).unsqueeze(-1) * e);
  }
  return (q.unsqueeze(-1) * S).sum(-2) / scale;
}

}  // namespace

torch::Tensor delta_rule(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                         const torch::Tensor& beta, const torch::Tensor& g, bool normalise) {
  if (use_kernels(q)) {
    // autograd's functions take no undefined tensor.
    const c10::optional<torch::Tensor> decay = g.defined() ? c10::optional<torch::Tensor>(g) : c10::nullopt;
    return DeltaRule::apply(q, k, v, beta, decay, normalise, c10::GradMode::is_enabled());
  }
  const torch::Tensor queries = normalise ? direction(q) : q, keys = normalise ? direction(k) : k;
  torch::Tensor S = torch::zeros({q.size(0), q.size(2), q.size(3), v.size(4)}, q.options().requires_grad(false));
  std::vector<torch::Tensor> o;
  for (std::int64_t t = 0; t < q.size(1); ++t)
    o.push_back(advance(S, queries.select(1, t), keys.select(1, t), v.select(1, t), beta.select(1, t),
                        g.defined() ? g.select(1, t) : torch::Tensor()));
  return torch::stack(o, 1);
}

torch::Tensor delta_rule_step(torch::Tensor& S, const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                              const torch::Tensor& beta, const torch::Tensor& g, bool normalise) {
  return advance(S, normalise ? direction(q) : q, normalise ? direction(k) : k, v, beta, g);
}

}  // namespace mneme::ops
