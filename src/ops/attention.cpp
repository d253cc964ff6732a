#include "ops/attention.h"

#include <cmath>

#include "kernels/attention/attention_layer.h"
#include "kernels/attention/causal_attention.h"
#include "ops/operation.h"
#include "ops/tensors.h"
#include "ops/weight_gradient.h"

namespace mneme::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Keys and values are the last channels of x [B, L, ..].
kernels::AttentionInput input_of(const Tensor& x, std::int64_t width, std::int64_t heads) {
  const std::size_t D = static_cast<std::size_t>(width), H = static_cast<std::size_t>(heads), row = extent(x, 2);
  const float* end = x.data_ptr<float>() + row;
  return {.B = extent(x, 0),
          .L = extent(x, 1),
          .H = H,
          .d = D / H,
          .scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(D / H))),
          .q = {x.data_ptr<float>(), row},
          .k = {end - 2 * D, row},
          .v = {end - D, row}};
}

kernels::AttentionInput input_of(const Tensor& q, const Tensor& kv, const Tensor& rows, std::int64_t heads) {
  kernels::AttentionInput in = input_of(kv, q.size(1), heads);
  in.q = {q.data_ptr<float>(), extent(q, 1)};
  in.positions = rows.data_ptr<std::int64_t>();
  in.R = extent(rows, 0);
  return in;
}

class CausalAttention : public Operation<CausalAttention> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& input, std::int64_t heads) {
    const Tensor qkv = input.contiguous();
    const std::int64_t B = qkv.size(0), L = qkv.size(1), D = qkv.size(2) / 3;
    Tensor out = torch::empty({B, L, D}, qkv.options()), lse = torch::empty({B, L, heads}, qkv.options());
    kernels::causal_attention(input_of(qkv, D, heads), out.data_ptr<float>(), lse.data_ptr<float>());
    context->save_for_backward({qkv, lse});
    context->saved_data["heads"] = heads;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &qkv = saved[0], &lse = saved[1], dout = gradients[0].contiguous();
    const std::int64_t D = qkv.size(2) / 3;
    Tensor dqkv = torch::empty_like(qkv);
    float* to = dqkv.data_ptr<float>();
    const std::size_t row = extent(qkv, 2);
    kernels::causal_attention_backward(input_of(qkv, D, context->saved_data["heads"].toInt()), lse.data_ptr<float>(),
                                       dout.data_ptr<float>(), {to, row, to + D, to + 2 * D, row});
    return {dqkv, Tensor()};
  }
};

class AttentionAtPositions : public Operation<AttentionAtPositions> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& queries, const Tensor& keys_and_values,
                        const Tensor& positions, std::int64_t heads) {
    const Tensor q = queries.contiguous(), kv = keys_and_values.contiguous(), rows = positions.contiguous();
    Tensor out = torch::empty_like(q), lse = torch::empty({q.size(0), heads}, q.options());
    kernels::causal_attention(input_of(q, kv, rows, heads), out.data_ptr<float>(), lse.data_ptr<float>());
    context->save_for_backward({q, kv, rows, lse});
    context->saved_data["heads"] = heads;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &q = saved[0], &kv = saved[1], dout = gradients[0].contiguous();
    Tensor dq = torch::empty_like(q), dkv = torch::empty_like(kv);
    float* to = dkv.data_ptr<float>();
    kernels::causal_attention_backward(input_of(q, kv, saved[2], context->saved_data["heads"].toInt()),
                                       saved[3].data_ptr<float>(), dout.data_ptr<float>(),
                                       {dq.data_ptr<float>(), extent(q, 1), to, to + q.size(1), extent(kv, 2)});
    return {dq, dkv, Tensor(), Tensor()};
  }
};

class AttentionLayer : public Operation<AttentionLayer> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& weight_in,
                        const c10::optional<Tensor>& bias_in, const Tensor& weight_out, const Tensor& bias_out,
                        const c10::optional<Tensor>& positions, std::int64_t heads) {
    const Tensor x = input.contiguous(), rows = positions ? positions->contiguous() : Tensor();
    const variable_list tensors = {x, weight_in, bias_in ? *bias_in : Tensor(), weight_out, bias_out, rows};
    const kernels::AttentionLayer in = layer_of(tensors, heads);
    const auto R = static_cast<std::int64_t>(in.rows()), D = x.size(2);
    const Tensor q = torch::empty({R, D}, x.options()), kv = torch::empty({x.size(0), x.size(1), 2 * D}, x.options()),
                 c = torch::empty_like(q), lse = torch::empty({R, heads}, x.options());
    Tensor y = rows.defined() ? torch::empty_like(q) : torch::empty_like(x);
    kernels::attention_layer(in, kept_of({q, kv, c, lse}), y.data_ptr<float>());
    context->save_for_backward({x, weight_in, tensors[2], weight_out, bias_out, rows, q, kv, c, lse});
    context->saved_data["heads"] = heads;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], dy = gradients[0].contiguous();
    Tensor dx = torch::empty_like(x);
    WeightGradient weight_in(saved[1], true), bias_in(saved[2], saved[2].defined()), weight_out(saved[3], true),
        bias_out(saved[4], true);
    kernels::attention_layer_backward(
        layer_of(saved, context->saved_data["heads"].toInt()), kept_of({saved.begin() + 6, saved.end()}),
        dy.data_ptr<float>(),
        {dx.data_ptr<float>(), weight_in.data(), bias_in.data(), weight_out.data(), bias_out.data()});
    return {dx, weight_in.result(), bias_in.result(), weight_out.result(), bias_out.result(), Tensor(), Tensor()};
  }

 private:
  // Of x, the weights and the positions, in this order.
  static kernels::AttentionLayer layer_of(const variable_list& tensors, std::int64_t heads) {
    const Tensor &x = tensors[0], &rows = tensors[5];
    return {.B = extent(x, 0),
            .L = extent(x, 1),
            .H = static_cast<std::size_t>(heads),
            .D = extent(x, 2),
            .x = x.data_ptr<float>(),
            .weight_in = tensors[1].data_ptr<float>(),
            .bias_in = floats(tensors[2]),
            .weight_out = tensors[3].data_ptr<float>(),
            .bias_out = tensors[4].data_ptr<float>(),
            .positions = rows.defined() ? rows.data_ptr<std::int64_t>() : nullptr,
            .R = rows.defined() ? extent(rows, 0) : 0};
  }

  static kernels::AttentionLayerKept kept_of(const variable_list& tensors) {
    return {tensors[0].data_ptr<float>(), tensors[1].data_ptr<float>(), tensors[2].data_ptr<float>(),
            tensors[3].data_ptr<float>()};
  }
};

}  // namespace

Tensor attention_layer(const Tensor& x, const c10::optional<Tensor>& rows, const AttentionWeights& weights,
                       std::int64_t heads) {
  return AttentionLayer::apply(x, weights.in,
                               weights.in_bias.defined() ? c10::optional<Tensor>(weights.in_bias) : c10::nullopt,
                               weights.out, weights.out_bias, rows, heads);
}

Tensor causal_attention(const Tensor& qkv, std::int64_t heads) { return CausalAttention::apply(qkv, heads); }

Tensor causal_attention_at(const Tensor& q, const Tensor& kv, const Tensor& rows, std::int64_t heads) {
  return AttentionAtPositions::apply(q, kv, rows, heads);
}

}  // namespace mneme::ops
