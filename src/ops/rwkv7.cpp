#include "ops/rwkv7.h"

#include "kernels/scan/rwkv7.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Rwkv7Tensors {
  torch::Tensor r, w, k, v, a, b;  // contiguous
  torch::Tensor recalled, states;  // of the kernel, for its backward pass

  variable_list list() const { return {r, w, k, v, a, b, recalled, states}; }

  kernels::Rwkv7Input input() const {
    return {{extent(r, 0), extent(r, 1), extent(r, 2), extent(r, 3)},
            floats(r),
            floats(w),
            floats(k),
            floats(v),
            floats(a),
            floats(b)};
  }
  kernels::Rwkv7Saved saved() const { return {floats(recalled), floats(states)}; }
};

struct Rwkv7Scan : Operation<Rwkv7Scan> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& r, const torch::Tensor& w,
                               const torch::Tensor& k, const torch::Tensor& v, const torch::Tensor& a,
                               const torch::Tensor& b, bool keep) {
    Rwkv7Tensors t{
        r.contiguous(), w.contiguous(), k.contiguous(), v.contiguous(), a.contiguous(), b.contiguous(), {}, {}};
    const kernels::Rwkv7Input in = t.input();
    torch::Tensor out = torch::empty_like(t.r);
    if (keep) {
      t.recalled = torch::empty_like(out);
      t.states = torch::empty({static_cast<std::int64_t>(in.shape.states_size())}, r.options());
    }
    kernels::rwkv7(in, floats(out), t.saved());
    if (keep) context->save_for_backward(t.list());
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<Rwkv7Tensors>(context->get_saved_variables());
    const torch::Tensor dout = gradients[0].contiguous();
    const torch::Tensor dr = torch::empty_like(t.r), dw = torch::empty_like(t.w), dk = torch::empty_like(t.k),
                        dv = torch::empty_like(t.v), da = torch::empty_like(t.a), db = torch::empty_like(t.b);
    kernels::rwkv7_backward(t.input(), t.saved(), floats(dout),
                            {floats(dr), floats(dw), floats(dk), floats(dv), floats(da), floats(db)});
    return {dr, dw, dk, dv, da, db, torch::Tensor()};
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
