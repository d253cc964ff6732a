#include "ops/wkv.h"

#include "kernels/scan/wkv.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct WkvTensors {
  torch::Tensor k, v, w, u;  // contiguous
  torch::Tensor states;      // of the kernel, for its backward pass

  variable_list list() const { return {k, v, w, u, states}; }

  kernels::WkvInput input() const {
    return {extent(k, 0), extent(k, 1), extent(k, 2), floats(k), floats(v), floats(w), floats(u)};
  }
};

struct Wkv : Operation<Wkv> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& k, const torch::Tensor& v,
                               const torch::Tensor& w, const torch::Tensor& u, bool keep) {
    WkvTensors t{k.contiguous(), v.contiguous(), w.contiguous(), u.contiguous(), {}};
    const kernels::WkvInput in = t.input();
    torch::Tensor out = torch::empty_like(t.k);
    if (keep) t.states = torch::empty({static_cast<std::int64_t>(in.states_size())}, k.options());
    kernels::wkv(in, floats(out), {floats(t.states)});
    if (keep) context->save_for_backward(t.list());
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<WkvTensors>(context->get_saved_variables());
    const torch::Tensor dout = gradients[0].contiguous();
    const torch::Tensor dk = torch::empty_like(t.k), dv = torch::empty_like(t.v), dw = torch::empty_like(t.w),
                        du = torch::empty_like(t.u);
    kernels::wkv_backward(t.input(), {floats(t.states)}, floats(dout),
                          {floats(dk), floats(dv), floats(dw), floats(du)});
    return {dk, dv, dw, du, torch::Tensor()};
  }
};

}  // namespace

torch::Tensor wkv(const torch::Tensor& k, const torch::Tensor& v, const torch::Tensor& w, const torch::Tensor& u) {
  if (use_kernels(k)) return Wkv::apply(k, v, w, u, c10::GradMode::is_enabled());
  WkvState state = WkvState::initial(k.size(0), k.size(2), k.options());
  std::vector<torch::Tensor> y;
  for (std::int64_t t = 0; t < k.size(1); ++t) y.push_back(wkv_step(state, k.select(1, t), v.select(1, t), w, u));
  return torch::stack(y, 1);
}

WkvState WkvState::initial(std::int64_t batch, std::int64_t channels, const torch::TensorOptions& options) {
  const auto plain = options.requires_grad(false);
  // Far below every exponent, yet decays can be added to it without reaching infinity.
  return {torch::zeros({batch, channels}, plain), torch::zeros({batch, channels}, plain),
          torch::full({batch, channels}, -1e38, plain)};
}

torch::Tensor wkv_step(WkvState& state, const torch::Tensor& k, const torch::Tensor& v, const torch::Tensor& w,
                       const torch::Tensor& u) {
  // The common exponent cancels in the result, so it is a constant to the derivative.
  const torch::Tensor newest = u + k;
  torch::Tensor exponent = torch::maximum(state.o, newest).detach();
  torch::Tensor past = torch::exp(state.o - exponent), now = torch::exp(newest - exponent);
  const torch::Tensor y = (past * state.p + now * v) / (past * state.q + now);
  const torch::Tensor decayed = state.o + w;
  exponent = torch::maximum(decayed, k).detach();
  past = torch::exp(decayed - exponent), now = torch::exp(k - exponent);
  state = {past * state.p + now * v, past * state.q + now, exponent};
  return y;
}

}  // namespace mneme::ops
