#include "ops/rwkv7.h"

#include "kernels/scan/rwkv7.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

kernels::Rwkv7Inputs rwkv7_inputs(const variable_list& t) {
  const auto size = [&](std::int64_t dimension) { return static_cast<std::size_t>(t[0].size(dimension)); };
  return {{size(0), size(1), size(2), size(3)},
          floats(t[0]),
          floats(t[1]),
          floats(t[2]),
          floats(t[3]),
          floats(t[4]),
          floats(t[5])};
}

struct Rwkv7Scan : Operation<Rwkv7Scan> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& r, const torch::Tensor& w,
                               const torch::Tensor& k, const torch::Tensor& v, const torch::Tensor& a,
                               const torch::Tensor& b, bool keep) {
    variable_list saved = {r.contiguous(), w.contiguous(), k.contiguous(),
                           v.contiguous(), a.contiguous(), b.contiguous()};
    const kernels::Rwkv7Inputs in = rwkv7_inputs(saved);
    torch::Tensor o = torch::empty_like(saved[0]), recalled, states;
    if (keep) {
      recalled = torch::empty_like(o);
      states = torch::empty({static_cast<std::int64_t>(in.shape.states_size())}, r.options());
    }
    kernels::rwkv7_forward(in, floats(o), floats(recalled), floats(states));
    if (keep) {
      saved.insert(saved.end(), {recalled, states});
      context->save_for_backward(saved);
    }
    return o;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor dO = gradients[0].contiguous();
    variable_list result;
    for (int i = 0; i < 6; ++i) result.push_back(torch::empty_like(saved[i]));
    kernels::rwkv7_backward(rwkv7_inputs(saved), floats(saved[6]), floats(saved[7]),
                            {floats(dO), floats(result[0]), floats(result[1]), floats(result[2]), floats(result[3]),
                             floats(result[4]), floats(result[5])});
    result.emplace_back();
    return result;
  }
};

}  // namespace

torch::Tensor rwkv7_scan(const Rwkv7Streams& s) {
  if (use_kernels(s.r)) return Rwkv7Scan::apply(s.r, s.w, s.k, s.v, s.a, s.b, c10::GradMode::is_enabled());
  torch::Tensor S =
      torch::zeros({s.r.size(0), s.r.size(2), s.r.size(3), s.r.size(3)}, s.r.options().requires_grad(false));
  std::vector<torch::Tensor> o;
  for (std::int64_t t = 0; t < s.r.size(1); ++t) o.push_back(rwkv7_step(S, s, t));
  return torch::stack(o, 1);
}

torch::Tensor rwkv7_step(torch::Tensor& S, const Rwkv7Streams& s, std::int64_t t) {
  const auto column = [&](const torch::Tensor& x) { return x.select(1, t).unsqueeze(-1); };  // [B, H, N, 1]
  const torch::Tensor recalled = (column(s.a) * S).sum(-2, true);                            // [B, H, 1, N]
  S = torch::exp(column(s.w)) * S - column(s.b) * recalled + column(s.k) * s.v.select(1, t).unsqueeze(-2);
  return (column(s.r) * S).sum(-2);
}

}  // namespace mneme::ops
