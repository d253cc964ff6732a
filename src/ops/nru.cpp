#include "ops/nru.h"

#include "kernels/cells/nru_cell.h"
#include "ops/operation.h"

namespace mneme::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// [L, B, C] with its steps as matrices that share its memory.
struct Sequence {
  explicit Sequence(Tensor values) : all(std::move(values)), step(all.unbind(0)) {}
  Sequence(std::int64_t L, std::int64_t B, std::int64_t C, const Tensor& like)
      : Sequence(torch::empty({L, B, C}, like.options())) {}
  float* at(std::size_t t) const { return step[t].data_ptr<float>(); }

  Tensor all;
  std::vector<Tensor> step;
};

// sum over t of left[t]^T right[t]
Tensor over_all_steps(const Tensor& left, const Tensor& right) {
  return torch::mm(left.flatten(0, 1).t(), right.flatten(0, 1));
}

kernels::NruSizes sizes_of(const std::vector<std::int64_t>& shape, std::int64_t rows) {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  return {size(rows), size(shape[0]), size(shape[1]), size(shape[2]), size(shape[3])};
}

std::vector<std::int64_t> numbers(const NruShape& shape) {
  return {shape.hidden, shape.memory, shape.heads, shape.side};
}

class NruLayer : public Operation<NruLayer> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& a_in, const Tensor& o_in, const Tensor& W,
                        const Tensor& U, const Tensor& gain, const Tensor& shift, std::vector<std::int64_t> shape,
                        bool relu, bool norm) {
    const std::int64_t L = a_in.size(0), B = a_in.size(1), H = shape[0], width = H + shape[1];
    const Sequence a(a_in), o_input(o_in);
    Sequence p(L, B, H, a_in), o(L, B, U.size(0), a_in), q(L, B, width, a_in), state(L + 1, B, width, a_in);
    state.step[0].zero_();
    const kernels::NruSizes sizes = sizes_of(shape, B);
    const Tensor to_p = W.t(), to_o = U.t();
    const Tensor scale = gain.contiguous(), offset = shift.contiguous();
    for (std::size_t t = 0; t < a.step.size(); ++t) {
      torch::addmm_out(p.step[t], a.step[t], state.step[t], to_p);
      kernels::nru_hidden({sizes, p.at(t), state.at(t), norm ? scale.data_ptr<float>() : nullptr,
                           norm ? offset.data_ptr<float>() : nullptr, q.at(t)});
      torch::addmm_out(o.step[t], o_input.step[t], q.step[t], to_o);
      kernels::nru_memory({sizes, relu, o.at(t), q.at(t), state.at(t + 1)});
    }
    context->save_for_backward({p.all, o.all, q.all, state.all, W, U, scale});
    context->saved_data["shape"] = shape;
    context->saved_data["relu"] = relu;
    context->saved_data["norm"] = norm;
    return state.all.narrow(0, 1, L).narrow(2, 0, H).contiguous();
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Sequence p(saved[0]), o(saved[1]), q(saved[2]);
    const Tensor &W = saved[4], &U = saved[5], &gain = saved[6];
    const auto shape = context->saved_data["shape"].toIntVector();
    const bool relu = context->saved_data["relu"].toBool(), norm = context->saved_data["norm"].toBool();
    const std::int64_t L = p.all.size(0), B = p.all.size(1), H = shape[0];
    const kernels::NruSizes sizes = sizes_of(shape, B);
    const std::vector<Tensor> dy = gradients[0].unbind(0);
    Sequence dp(L, B, H, p.all), d_o(L, B, U.size(0), p.all);
    Tensor dstate = torch::zeros({B, H + shape[1]}, p.all.options()), dq = torch::empty_like(dstate);
    Tensor dgain = torch::zeros_like(gain), dshift = torch::zeros_like(gain);
    for (std::size_t t = p.step.size(); t-- > 0;) {
      dstate.narrow(1, 0, H).add_(dy[t]);
      kernels::nru_memory_backward({sizes, relu, o.at(t), dstate.data_ptr<float>(), d_o.at(t)});
      torch::addmm_out(dq, dstate, d_o.step[t], U);
      kernels::nru_hidden_backward({sizes, p.at(t), q.at(t), norm ? gain.data_ptr<float>() : nullptr,
                                    dq.data_ptr<float>(), dp.at(t), dstate.data_ptr<float>(),
                                    norm ? dgain.data_ptr<float>() : nullptr,
                                    norm ? dshift.data_ptr<float>() : nullptr});
      dstate.addmm_(dp.step[t], W);
    }
    const Tensor dW = over_all_steps(dp.all, saved[3].narrow(0, 0, L));
    return {dp.all, d_o.all, dW, over_all_steps(d_o.all, q.all), dgain, dshift, Tensor(), Tensor(), Tensor()};
  }
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
      kernels::nru_plain({sizes_of(shape, B), o.at(t), state.at(t), state.at(t + 1)});
    }
    context->save_for_backward({o.all, state.all, W});
    context->saved_data["shape"] = shape;
    return state.all.narrow(0, 1, L).narrow(2, 0, H).contiguous();
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Sequence o(saved[0]);
    const Tensor& W = saved[2];
    const auto shape = context->saved_data["shape"].toIntVector();
    const std::int64_t L = o.all.size(0), B = o.all.size(1), H = shape[0];
    const std::vector<Tensor> dy = gradients[0].unbind(0);
    Sequence d_o(L, B, W.size(0), o.all);
    Tensor dstate = torch::zeros({B, H + shape[1]}, o.all.options()), dold = torch::empty_like(dstate);
    for (std::size_t t = o.step.size(); t-- > 0;) {
      dstate.narrow(1, 0, H).add_(dy[t]);
      kernels::nru_plain_backward(
          {sizes_of(shape, B), o.at(t), dstate.data_ptr<float>(), d_o.at(t), dold.data_ptr<float>()});
      dold.addmm_(d_o.step[t], W);
      std::swap(dstate, dold);
    }
    return {d_o.all, over_all_steps(d_o.all, saved[1].narrow(0, 0, L)), Tensor()};
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
