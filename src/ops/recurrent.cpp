#include "ops/recurrent.h"

#include "kernels/cells/recurrent_cells.h"
#include "kernels/dense/linear.h"
#include "ops/operation.h"

namespace mneme::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// [L, B, C] with its steps as matrices that share its memory.
struct Sequence {
  explicit Sequence(Tensor values) : all(std::move(values)), step(all.unbind(0)) {}
  float* at(std::size_t t) const { return step[t].data_ptr<float>(); }

  Tensor all;
  std::vector<Tensor> step;
};

Sequence empty_sequence(const Tensor& like, std::int64_t channels) {
  return Sequence(torch::empty({like.size(0), like.size(1), channels}, like.options()));
}

kernels::CellSizes sizes_of(const Tensor& h) {
  return {static_cast<std::size_t>(h.size(-2)), static_cast<std::size_t>(h.size(-1))};
}

// The gradient of the recurrent matrix: sum over t of db[t]^T h[t-1], as one product.
Tensor weight_gradient(const Sequence& db, const Sequence& h) {
  const kernels::CellSizes s = sizes_of(h.all);
  const auto blocks = static_cast<std::size_t>(db.all.size(2));
  Tensor gradient = torch::zeros({db.all.size(2), h.all.size(2)}, db.all.options());
  if (db.step.size() > 1)
    kernels::linear_backward({(db.step.size() - 1) * s.rows, s.channels, blocks}, h.at(0), nullptr, db.at(1),
                             {nullptr, gradient.data_ptr<float>(), nullptr});
  return gradient;
}

// dh[t] = dy[t] + what comes back through the product of step t + 1.
void add_from_later(Tensor dh, const Sequence& dy, const Sequence& db, const Tensor& weight, std::size_t t) {
  if (t + 1 == dy.step.size())
    dh.copy_(dy.step[t]);
  else
    torch::addmm_out(dh, dy.step[t], db.step[t + 1], weight);
}

class RnnLayer : public Operation<RnnLayer> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& a_in, const Tensor& weight, bool relu) {
    const Sequence a(a_in.contiguous());
    const std::int64_t H = weight.size(1);
    Sequence h = empty_sequence(a.all, H);
    const Tensor transposed = weight.t();
    for (std::size_t t = 0; t < a.step.size(); ++t) {
      if (t > 0) torch::addmm_out(h.step[t], a.step[t], h.step[t - 1], transposed);
      kernels::rnn_cell({sizes_of(h.all), relu, t > 0 ? h.at(t) : a.at(t), h.at(t)});
    }
    context->save_for_backward({h.all, weight});
    context->saved_data["relu"] = relu;
    return h.all;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Sequence h(saved[0]), dy(gradients[0].contiguous());
    Sequence da = empty_sequence(h.all, h.all.size(2));
    const bool relu = context->saved_data["relu"].toBool();
    for (std::size_t t = h.step.size(); t-- > 0;) {
      add_from_later(da.step[t], dy, da, saved[1], t);
      kernels::rnn_cell_backward({sizes_of(h.all), relu, h.at(t), da.at(t), da.at(t)});
    }
    return {da.all, weight_gradient(da, h), Tensor()};
  }
};

class LstmLayer : public Operation<LstmLayer> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& a_in, const Tensor& weight) {
    const Sequence a(a_in.contiguous());
    const std::int64_t H = weight.size(1);
    Sequence h = empty_sequence(a.all, H), c = empty_sequence(a.all, H), gates = empty_sequence(a.all, 4 * H);
    const Tensor transposed = weight.t(), zeros = torch::zeros_like(c.step[0]);
    for (std::size_t t = 0; t < a.step.size(); ++t) {
      if (t > 0)
        torch::addmm_out(gates.step[t], a.step[t], h.step[t - 1], transposed);
      else
        gates.step[t].copy_(a.step[t]);
      kernels::lstm_cell(
          {sizes_of(h.all), gates.at(t), t > 0 ? c.at(t - 1) : zeros.data_ptr<float>(), c.at(t), h.at(t)});
    }
    context->save_for_backward({h.all, c.all, gates.all, weight});
    return h.all;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Sequence h(saved[0]), c(saved[1]), gates(saved[2]), dy(gradients[0].contiguous());
    Sequence da = empty_sequence(gates.all, gates.all.size(2));
    Tensor dh = torch::empty_like(h.step[0]), dc = torch::zeros_like(dh);
    const Tensor zeros = torch::zeros_like(dh);
    for (std::size_t t = h.step.size(); t-- > 0;) {
      add_from_later(dh, dy, da, saved[3], t);
      kernels::lstm_cell_backward({sizes_of(h.all), gates.at(t), t > 0 ? c.at(t - 1) : zeros.data_ptr<float>(), c.at(t),
                                   dh.data_ptr<float>(), dc.data_ptr<float>(), da.at(t)});
    }
    return {da.all, weight_gradient(da, h)};
  }
};

class GruLayer : public Operation<GruLayer> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& a_in, const Tensor& weight, const Tensor& bias_n) {
    const Sequence a(a_in.contiguous());
    const std::int64_t H = weight.size(1);
    const Tensor bias = bias_n.contiguous(), matrix = weight.contiguous();
    Sequence h = empty_sequence(a.all, H), gates = empty_sequence(a.all, 4 * H);
    Tensor b = torch::zeros_like(a.step[0]);
    const Tensor zeros = torch::zeros_like(h.step[0]);
    for (std::size_t t = 0; t < a.step.size(); ++t) {
      if (t > 0)
        kernels::linear({sizes_of(h.all).rows, sizes_of(h.all).channels, 3 * sizes_of(h.all).channels}, h.at(t - 1),
                        matrix.data_ptr<float>(), nullptr, b.data_ptr<float>());
      kernels::gru_cell({sizes_of(h.all), a.at(t), b.data_ptr<float>(), bias.data_ptr<float>(),
                         t > 0 ? h.at(t - 1) : zeros.data_ptr<float>(), gates.at(t), h.at(t)});
    }
    context->save_for_backward({h.all, gates.all, weight});
    return h.all;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Sequence h(saved[0]), gates(saved[1]), dy(gradients[0].contiguous());
    const std::int64_t H = h.all.size(2);
    Sequence da = empty_sequence(h.all, 3 * H), db = empty_sequence(h.all, 3 * H);
    Tensor dh = torch::empty_like(h.step[0]), kept = torch::zeros_like(dh);
    const Tensor zeros = torch::zeros_like(dh);
    for (std::size_t t = h.step.size(); t-- > 0;) {
      add_from_later(dh, dy, db, saved[2], t);
      dh.add_(kept);
      kernels::gru_cell_backward({sizes_of(h.all), gates.at(t), t > 0 ? h.at(t - 1) : zeros.data_ptr<float>(),
                                  dh.data_ptr<float>(), da.at(t), db.at(t)});
      std::swap(dh, kept);
    }
    return {da.all, weight_gradient(db, h), db.all.narrow(2, 2 * H, H).flatten(0, 1).sum(0)};
  }
};

}  // namespace

Tensor rnn_layer(const Tensor& a, const Tensor& weight, bool relu) { return RnnLayer::apply(a, weight, relu); }

Tensor lstm_layer(const Tensor& a, const Tensor& weight) { return LstmLayer::apply(a, weight); }

Tensor gru_layer(const Tensor& a, const Tensor& weight, const Tensor& bias_n) {
  return GruLayer::apply(a, weight, bias_n);
}

}  // namespace mneme::ops
