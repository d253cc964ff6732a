#include "ops/nru.h"

#include "kernels/cells/nru_cell.h"
#include "ops/operation.h"
#include "ops/sequence.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// sum over t of left[t]^T right[t]
Tensor over_all_steps(const Tensor& left, const Tensor& right) {
  return torch::mm(left.flatten(0, 1).t(), right.flatten(0, 1));
}

kernels::NruShape kernel_shape(const std::vector<std::int64_t>& shape, std::int64_t rows) {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  return {size(rows), size(shape[0]), size(shape[1]), size(shape[2]), size(shape[3])};
}

std::vector<std::int64_t> numbers(const NruShape& shape) {
  return {shape.hidden, shape.memory, shape.heads, shape.side};
}

struct NruTensors {
  Tensor p, o, q, state;  // [L, B, ..], the state [L + 1, B, H+M]
  Tensor W, U, gain;
};

class NruLayer : public Operation<NruLayer> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& a_in, const Tensor& o_in, const Tensor& W,
                        const Tensor& U, const Tensor& gain, const Tensor& shift, std::vector<std::int64_t> shape,
                        bool relu, bool norm) {
    const std::int64_t L = a_in.size(0), B = a_in.size(1), H = shape[0], width = H + shape[1];
    const Sequence a(a_in), o_input(o_in);
    Sequence p(L, B, H, a_in), o(L, B, U.size(0), a_in), q(L, B, width, a_in), state(L + 1, B, width, a_in);
    state.step[0].zero_();
    const kernels::NruShape sizes = kernel_shape(shape, B);
    const Tensor to_p = W.t(), to_o = U.t();
    const Tensor scale = gain.contiguous(), offset = shift.contiguous();
    for (std::size_t t = 0; t < a.step.size(); ++t) {
      torch::addmm_out(p.step[t], a.step[t], state.step[t], to_p);
      kernels::nru_hidden(
          {sizes, p.at(t), state.at(t), norm ? floats(scale) : nullptr, norm ? floats(offset) : nullptr}, q.at(t));
      torch::addmm_out(o.step[t], o_input.step[t], q.step[t], to_o);
      kernels::nru_memory({sizes, relu, o.at(t), q.at(t)}, state.at(t + 1));
    }
    context->save_for_backward({p.all, o.all, q.all, state.all, W, U, scale});
    context->saved_data["shape"] = shape;
    context->saved_data["relu"] = relu;
    context->saved_data["norm"] = norm;
    return state.all.narrow(0, 1, L).narrow(2, 0, H).contiguous();
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = named<NruTensors>(context->get_saved_variables());
    const Sequence p(saved.p), o(saved.o), q(saved.q);
    const Tensor &W = saved.W, &U = saved.U, &gain = saved.gain;
    const auto shape = context->saved_data["shape"].toIntVector();
    const bool relu = context->saved_data["relu"].toBool(), norm = context->saved_data["norm"].toBool();
    const std::int64_t L = p.all.size(0), B = p.all.size(1), H = shape[0];
    const kernels::NruShape sizes = kernel_shape(shape, B);
    const std::vector<Tensor> dy = gradients[0].unbind(0);
    Sequence dp(L, B, H, p.all), d_o(L, B, U.size(0), p.all);
    Tensor dstate = torch::zeros({B, H + shape[1]}, p.all.options()), dq = torch::empty_like(dstate);
    Tensor dgain = torch::zeros_like(gain), dshift = torch::zeros_like(gain);
    for (std::size_t t = p.step.size(); t-- > 0;) {
      dstate.narrow(1, 0, H).add_(dy[t]);
      kernels::nru_memory_backward({sizes, relu, o.at(t), q.at(t)}, floats(dstate), d_o.at(t));
      torch::addmm_out(dq, dstate, d_o.step[t], U);
      kernels::nru_hidden_backward(
          {sizes, p.at(t), nullptr, norm ? floats(gain) : nullptr, nullptr}, q.at(t), floats(dq),
          {dp.at(t), floats(dstate), norm ? floats(dgain) : nullptr, norm ? floats(dshift) : nullptr});
      dstate.addmm_(dp.step[t], W);
    }
    const Tensor dW = over_all_steps(dp.all, saved.state.narrow(0, 0, L));
    return {dp.all, d_o.all, dW, over_all_steps(d_o.all, q.all), dgain, dshift, Tensor(), Tensor(), Tensor()};
  }
};

struct NruPlainTensors {
  Tensor o, state, W;
};

class NruPlainLayer : public Operation<NruPlainLayer> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& a_in, const Tensor& W,
                        std::vector<std::int64_t> shape) {
    const std::int64_t L = a_in.size(0), B = a_in.size(1), H = shape[0];
    const Sequence a(a_in);
    Sequence o(L, B, W.size(0), a_in), state(L + 1, B, H + shape[1], a_in);
    state.step[0].zero_();
    const Tensor to_o = W.t();
    for (std::size_t t = 0; t < a.step.size(); ++t) {
      torch::addmm_out(o.step[t], a.step[t], state.step[t], to_o);
      kernels::nru_plain({kernel_shape(shape, B), o.at(t), state.at(t)}, state.at(t + 1));
    }
    context->save_for_backward({o.all, state.all, W});
    context->saved_data["shape"] = shape;
    return state.all.narrow(0, 1, L).narrow(2, 0, H).contiguous();
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = named<NruPlainTensors>(context->get_saved_variables());
    const Sequence o(saved.o);
    const Tensor& W = saved.W;
    const auto shape = context->saved_data["shape"].toIntVector();
    const std::int64_t L = o.all.size(0), B = o.all.size(1), H = shape[0];
    const std::vector<Tensor> dy = gradients[0].unbind(0);
    Sequence d_o(L, B, W.size(0), o.all);
    Tensor dstate = torch::zeros({B, H + shape[1]}, o.all.options()), dold = torch::empty_like(dstate);
    for (std::size_t t = o.step.size(); t-- > 0;) {
      dstate.narrow(1, 0, H).add_(dy[t]);
      kernels::nru_plain_backward({kernel_shape(shape, B), o.at(t), nullptr}, floats(dstate),
                                  {d_o.at(t), floats(dold)});
      dold.addmm_(d_o.step[t], W);
      std::swap(dstate, dold);
    }
    return {d_o.all, over_all_steps(d_o.all, saved.state.narrow(0, 0, L)), Tensor()};
  }
};

}  // namespace

Tensor nru_layer(const NruShape& shape, const Tensor& a, const Tensor& o, const Tensor& W, const Tensor& U,
                 const Tensor& gain, const Tensor& shift) {
  const bool norm = gain.defined();
  const Tensor none = norm ? Tensor() : torch::zeros({shape.hidden}, a.options());
  return NruLayer::apply(a, o, W, U, norm ? gain : none, norm ? shift : none, numbers(shape), shape.relu, norm);
}

Tensor nru_plain_layer(const NruShape& shape, const Tensor& a, const Tensor& W) {
  return NruPlainLayer::apply(a, W, numbers(shape));
}

}  // namespace mneme::ops
