#include "ops/delta_rule.h"

#include <cmath>

#include "kernels/scan/delta_rule.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

kernels::DeltaRuleInputs inputs(const variable_list& t, bool normalise) {
  const torch::Tensor &q = t[0], &k = t[1], &v = t[2];
  const kernels::DeltaRuleShape shape{extent(q, 0), extent(q, 1), extent(k, 2),
                                      extent(q, 2), extent(q, 3), extent(v, 4)};
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(q.size(3))));
  return {shape, floats(q), floats(k), floats(v), floats(t[3]), floats(t[4]), scale, normalise};
}

struct DeltaRule : Operation<DeltaRule> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const torch::Tensor& beta, const c10::optional<torch::Tensor>& g,
                               bool normalise, bool keep) {
    variable_list saved = {q.contiguous(), k.contiguous(), v.contiguous(), beta.contiguous(),
                           g ? g->contiguous() : torch::Tensor()};
    const kernels::DeltaRuleInputs in = inputs(saved, normalise);
    torch::Tensor o = torch::empty({q.size(0), q.size(1), q.size(2), v.size(4)}, q.options());
    torch::Tensor errors, states;
    if (keep) {
      errors = torch::empty({static_cast<std::int64_t>(in.shape.errors_size())}, q.options());
      states = torch::empty({static_cast<std::int64_t>(in.shape.states_size())}, q.options());
    }
    kernels::delta_rule_forward(in, {floats(o), floats(errors), floats(states)});
    if (keep) {
      saved.insert(saved.end(), {errors, states});
      context->save_for_backward(saved);
      context->saved_data["normalise"] = normalise;
    }
    return o;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor dO = gradients[0].contiguous();
    variable_list result;
    for (int i = 0; i < 5; ++i) result.push_back(saved[i].defined() ? torch::empty_like(saved[i]) : torch::Tensor());
    kernels::delta_rule_backward(
        inputs(saved, context->saved_data["normalise"].toBool()), {floats(saved[5]), floats(saved[6])},
        {floats(dO), floats(result[0]), floats(result[1]), floats(result[2]), floats(result[3]), floats(result[4])});
    result.insert(result.end(), {torch::Tensor(), torch::Tensor()});
    return result;
  }
};

torch::Tensor direction(const torch::Tensor& x) { return x * torch::rsqrt((x * x).sum(-1, true) + 1e-6); }

// One token whose queries and keys are normalised already.
torch::Tensor advance(torch::Tensor& S, const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                      const torch::Tensor& beta, const torch::Tensor& g) {
  if (g.defined()) S = S * torch::exp(g).unsqueeze(-1).unsqueeze(-1);
  for (std::int64_t j = 0; j < k.size(1); ++j) {
    const torch::Tensor key = k.select(1, j).unsqueeze(-1);                          // [B, H, K, 1]
    const torch::Tensor e = v.select(1, j).unsqueeze(-2) - (key * S).sum(-2, true);  // [B, H, 1, V]
    S = S + key * (beta.select(1, j).unsqueeze(-1).unsqueeze(-1) * e);
  }
  return (q.unsqueeze(-1) * S).sum(-2) / std::sqrt(static_cast<double>(q.size(-1)));
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
