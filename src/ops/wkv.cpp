#include "ops/wkv.h"

#include "kernels/scan/wkv.h"
#include "ops/operation.h"
#include "ops/path.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Wkv : Operation<Wkv> {
  static torch::Tensor forward(AutogradContext* context, torch::Tensor k, torch::Tensor v, torch::Tensor w,
                               torch::Tensor u, bool keep) {
    k = k.contiguous(), v = v.contiguous(), w = w.contiguous(), u = u.contiguous();
    const auto B = static_cast<std::size_t>(k.size(0)), L = static_cast<std::size_t>(k.size(1)),
               C = static_cast<std::size_t>(k.size(2));
    torch::Tensor y = torch::empty_like(k);
    torch::Tensor states;
    if (keep) states = torch::empty({static_cast<std::int64_t>(kernels::wkv_states_size(B, L, C))}, k.options());
    kernels::wkv_forward({B, L, C, k.data_ptr<float>(), v.data_ptr<float>(), w.data_ptr<float>(), u.data_ptr<float>(),
                          y.data_ptr<float>(), keep ? states.data_ptr<float>() : nullptr});
    if (keep) context->save_for_backward({k, v, w, u, states});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &k = saved[0], &w = saved[2], dy = gradients[0].contiguous();
    torch::Tensor dk = torch::empty_like(k), dv = torch::empty_like(k), dw = torch::empty_like(w),
                  du = torch::empty_like(w);
    kernels::wkv_backward({static_cast<std::size_t>(k.size(0)), static_cast<std::size_t>(k.size(1)),
                           static_cast<std::size_t>(k.size(2)), k.data_ptr<float>(), saved[1].data_ptr<float>(),
                           w.data_ptr<float>(), saved[3].data_ptr<float>(), saved[4].data_ptr<float>(),
                           dy.data_ptr<float>(), dk.data_ptr<float>(), dv.data_ptr<float>(), dw.data_ptr<float>(),
                           du.data_ptr<float>()});
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
