#include "ops/rwkv5.h"

#include "kernels/scan/rwkv5.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

kernels::Rwkv5Inputs rwkv5_inputs(const variable_list& t) {
  const auto size = [&](std::int64_t dimension) { return static_cast<std::size_t>(t[0].size(dimension)); };
  return {{size(0), size(1), size(2), size(3)}, floats(t[0]), floats(t[1]), floats(t[2]), floats(t[3]), floats(t[4])};
}

struct Rwkv5Scan : Operation<Rwkv5Scan> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& r, const torch::Tensor& k,
                               const torch::Tensor& v, const torch::Tensor& d, const torch::Tensor& u, bool keep) {
    variable_list saved = {r.contiguous(), k.contiguous(), v.contiguous(), d.contiguous(), u.contiguous()};
    const kernels::Rwkv5Inputs in = rwkv5_inputs(saved);
    torch::Tensor y = torch::empty_like(saved[0]), states;
    if (keep) states = torch::empty({static_cast<std::int64_t>(in.shape.states_size())}, r.options());
    kernels::rwkv5_forward(in, floats(y), floats(states));
    if (keep) {
      saved.push_back(states);
      context->save_for_backward(saved);
    }
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor dy = gradients[0].contiguous();
    variable_list result;
    for (int i = 0; i < 5; ++i) result.push_back(torch::empty_like(saved[i]));
    kernels::rwkv5_backward(
        rwkv5_inputs(saved), floats(saved[5]),
        {floats(dy), floats(result[0]), floats(result[1]), floats(result[2]), floats(result[3]), floats(result[4])});
    result.emplace_back();
    return result;
  }
};

}  // namespace

torch::Tensor rwkv5_scan(const torch::Tensor& r, const torch::Tensor& k, const torch::Tensor& v, const torch::Tensor& d,
                         const torch::Tensor& u) {
  if (use_kernels(r)) return Rwkv5Scan::apply(r, k, v, d, u, c10::GradMode::is_enabled());
  torch::Tensor S = torch::zeros({r.size(0), r.size(2), r.size(3), r.size(3)}, r.options().requires_grad(false));
  std::vector<torch::Tensor> y;
  for (std::int64_t t = 0; t < r.size(1); ++t)
    y.push_back(rwkv5_step(S, r.select(1, t), k.select(1, t), v.select(1, t), d, u));
  return torch::stack(y, 1);
}

torch::Tensor rwkv5_step(torch::Tensor& S, const torch::Tensor& r, const torch::Tensor& k, const torch::Tensor& v,
                         const torch::Tensor& d, const torch::Tensor& u) {
  const torch::Tensor kv = k.unsqueeze(-1) * v.unsqueeze(-2);  // [B, H, N, N]
  const torch::Tensor y = (r.unsqueeze(-1) * (S + u.unsqueeze(-1) * kv)).sum(-2);
  S = d.unsqueeze(-1) * S + kv;
  return y;
}

}  // namespace mneme::ops
