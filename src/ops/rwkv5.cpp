#include "ops/rwkv5.h"

#include "kernels/scan/rwkv5.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Rwkv5Tensors {
  torch::Tensor r, k, v, d, u;  // contiguous
  torch::Tensor states;         // of the kernel, for its backward pass

  variable_list list() const { return {r, k, v, d, u, states}; }

  kernels::Rwkv5Input input() const {
    return {{extent(r, 0), extent(r, 1), extent(r, 2), extent(r, 3)},
            floats(r),
            floats(k),
            floats(v),
            floats(d),
            floats(u)};
  }
};

struct Rwkv5Scan : Operation<Rwkv5Scan> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& r, const torch::Tensor& k,
                               const torch::Tensor& v, const torch::Tensor& d, const torch::Tensor& u, bool keep) {
    Rwkv5Tensors t{r.contiguous(), k.contiguous(), v.contiguous(), d.contiguous(), u.contiguous(), {}};
    const kernels::Rwkv5Input in = t.input();
    torch::Tensor out = torch::empty_like(t.r);
    if (keep) t.states = torch::empty({static_cast<std::int64_t>(in.shape.states_size())}, r.options());
    kernels::rwkv5(in, floats(out), {floats(t.states)});
    if (keep) context->save_for_backward(t.list());
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<Rwkv5Tensors>(context->get_saved_variables());
    const torch::Tensor dout = gradients[0].contiguous();
    const torch::Tensor dr = torch::empty_like(t.r), dk = torch::empty_like(t.k), dv = torch::empty_like(t.v),
                        dd = torch::empty_like(t.d), du = torch::empty_like(t.u);
    kernels::rwkv5_backward(t.input(), {floats(t.states)}, floats(dout),
                            {floats(dr), floats(dk), floats(dv), floats(dd), floats(du)});
    return {dr, dk, dv, dd, du, torch::Tensor()};
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
