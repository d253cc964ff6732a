#include "ops/recurrent.h"

#include "kernels/cells/recurrent_cells.h"
#include "kernels/dense/linear.h"
#include "ops/operation.h"
#include "ops/sequence.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Sequence empty_sequence(const Tensor& like, std::int64_t channels) {
  return Sequence(like.size(0), like.size(1), channels, like);
}

kernels::CellShape shape_of(const Tensor& h) { return {extent(h, -2), extent(h, -1)}; }

// The gradient of the recurrent matrix: sum over t of db[t]^T h[t-1], as one product.
Tensor weight_gradient(const Sequence& db, const Sequence& h) {
  const kernels::CellShape s = shape_of(h.all);
  const std::size_t blocks = extent(db.all, 2);
  Tensor gradient = torch::zeros({db.all.size(2), h.all.size(2)}, db.all.options());
  if (db.step.size() > 1)
    kernels::linear_backward({(db.step.size() - 1) * s.R, s.H, blocks}, h.at(0), nullptr, db.at(1),
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

struct RnnTensors {
  Tensor h, weight;
};

class RnnLayer : public Operation<RnnLayer> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& a_in, const Tensor& weight, bool relu) {
    const Sequence a(a_in.contiguous());
    const std::int64_t H = weight.size(1);
    Sequence h = empty_sequence(a.all, H);
    const Tensor transposed = weight.t();
    for (std::size_t t = 0; t < a.step.size(); ++t) {
      if (t > 0) torch::addmm_out(h.step[t], a.step[t], h.step[t - 1], transposed);
      kernels::rnn_cell(shape_of(h.all), relu, t > 0 ? h.at(t) : a.at(t), h.at(t));
    }
    context->save_for_backward({h.all, weight});
    context->saved_data["relu"] = relu;
    return h.all;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = named<RnnTensors>(context->get_saved_variables());
    const Sequence h(saved.h), dy(gradients[0].contiguous());
    Sequence da = empty_sequence(h.all, h.all.size(2));
    const bool relu = context->saved_data["relu"].toBool();
    for (std::size_t t = h.step.size(); t-- > 0;) {
      add_from_later(da.step[t], dy, da, saved.weight, t);
      kernels::rnn_cell_backward(shape_of(h.all), relu, h.at(t), da.at(t), da.at(t));
    }
    return {da.all, weight_gradient(da, h), Tensor()};
  }
};

struct LstmTensors {
  Tensor h, c, gates, weight;
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
      kernels::lstm_cell({shape_of(h.all), t > 0 ? c.at(t - 1) : floats(zeros)}, h.at(t), {gates.at(t), c.at(t)});
    }
    context->save_for_backward({h.all, c.all, gates.all, weight});
    return h.all;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = named<LstmTensors>(context->get_saved_variables());
    const Sequence h(saved.h), c(saved.c), gates(saved.gates), dy(gradients[0].contiguous());
    Sequence da = empty_sequence(gates.all, gates.all.size(2));
    Tensor dh = torch::empty_like(h.step[0]), dc = torch::zeros_like(dh);
    const Tensor zeros = torch::zeros_like(dh);
    for (std::size_t t = h.step.size(); t-- > 0;) {
      add_from_later(dh, dy, da, saved.weight, t);
      kernels::lstm_cell_backward({shape_of(h.all), t > 0 ? c.at(t - 1) : floats(zeros)}, {gates.at(t), c.at(t)},
                                  floats(dh), {floats(dc), da.at(t)});
    }
    return {da.all, weight_gradient(da, h)};
  }
};

struct GruTensors {
  Tensor h, gates, weight;
};

class GruLayer : public Operation<GruLayer> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& a_in, const Tensor& weight, const Tensor& bias_n) {
    const Sequence a(a_in.contiguous());
    const std::int64_t H = weight.size(1);
    const Tensor bias = bias_n.contiguous(), matrix = weight.contiguous();
    Sequence h = empty_sequence(a.all, H), gates = empty_sequence(a.all, 4 * H);
    const kernels::CellShape shape = shape_of(h.all);
    Tensor b = torch::zeros_like(a.step[0]);
    const Tensor zeros = torch::zeros_like(h.step[0]);
    for (std::size_t t = 0; t < a.step.size(); ++t) {
      if (t > 0) kernels::linear({shape.R, shape.H, 3 * shape.H}, h.at(t - 1), floats(matrix), nullptr, floats(b));
      kernels::gru_cell({shape, t > 0 ? h.at(t - 1) : floats(zeros), a.at(t), floats(b), floats(bias)}, h.at(t),
                        {gates.at(t)});
    }
    context->save_for_backward({h.all, gates.all, weight});
    return h.all;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = named<GruTensors>(context->get_saved_variables());
    const Sequence h(saved.h), gates(saved.gates), dy(gradients[0].contiguous());
    const std::int64_t H = h.all.size(2);
    Sequence da = empty_sequence(h.all, 3 * H), db = empty_sequence(h.all, 3 * H);
    Tensor dh = torch::empty_like(h.step[0]), kept = torch::zeros_like(dh);
    const Tensor zeros = torch::zeros_like(dh);
    for (std::size_t t = h.step.size(); t-- > 0;) {
      add_from_later(dh, dy, db, saved.weight, t);
      dh.add_(kept);
      kernels::gru_cell_backward({shape_of(h.all), t > 0 ? h.at(t - 1) : floats(zeros), nullptr, nullptr, nullptr},
                                 {gates.at(t)}, floats(dh), {floats(dh), da.at(t), db.at(t)});
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
