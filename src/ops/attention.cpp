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
kernels::CausalAttentionInput input_of(const Tensor& x, std::int64_t width, std::int64_t heads) {
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

struct AttentionTensors {
  Tensor qkv;  // [B, L, 3D]
  Tensor lse;  // of the kernel, for its backward pass

  kernels::CausalAttentionInput input(std::int64_t heads) const { return input_of(qkv, qkv.size(2) / 3, heads); }
};

class CausalAttention : public Operation<CausalAttention> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& qkv, std::int64_t heads) {
    const std::int64_t B = qkv.size(0), L = qkv.size(1), D = qkv.size(2) / 3;
    const AttentionTensors t{qkv.contiguous(), torch::empty({B, L, heads}, qkv.options())};
    Tensor out = torch::empty({B, L, D}, qkv.options());
    kernels::causal_attention(t.input(heads), floats(out), {floats(t.lse)});
    context->save_for_backward({t.qkv, t.lse});
    context->saved_data["heads"] = heads;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<AttentionTensors>(context->get_saved_variables());
    const Tensor dout = gradients[0].contiguous();
    const std::size_t row = extent(t.qkv, 2), D = row / 3;
    Tensor dqkv = torch::empty_like(t.qkv);
    float* to = floats(dqkv);
    kernels::causal_attention_backward(t.input(context->saved_data["heads"].toInt()), {floats(t.lse)}, floats(dout),
                                       {to, row, to + D, to + 2 * D, row});
    return {dqkv, Tensor()};
  }
};

struct AttentionAtTensors {
  Tensor q, kv;      // [R, D], [B, L, 2D]
  Tensor positions;  // [R]
  Tensor lse;        // of the kernel, for its backward pass

  variable_list list() const { return {q, kv, positions, lse}; }

  kernels::CausalAttentionInput input(std::int64_t heads) const {
    kernels::CausalAttentionInput in = input_of(kv, q.size(1), heads);
    in.q = {floats(q), extent(q, 1)};
    in.positions = positions.data_ptr<std::int64_t>();
    in.R = extent(positions, 0);
    return in;
  }
};

class AttentionAtPositions : public Operation<AttentionAtPositions> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& q, const Tensor& kv, const Tensor& positions,
                        std::int64_t heads) {
    const AttentionAtTensors t{q.contiguous(), kv.contiguous(), positions.contiguous(),
                               torch::empty({q.size(0), heads}, q.options())};
    Tensor out = torch::empty_like(t.q);
    kernels::causal_attention(t.input(heads), floats(out), {floats(t.lse)});
    context->save_for_backward(t.list());
    context->saved_data["heads"] = heads;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<AttentionAtTensors>(context->get_saved_variables());
    const Tensor dout = gradients[0].contiguous();
    Tensor dq = torch::empty_like(t.q), dkv = torch::empty_like(t.kv);
    const std::size_t D = extent(t.q, 1);
    kernels::causal_attention_backward(t.input(context->saved_data["heads"].toInt()), {floats(t.lse)}, floats(dout),
                                       {floats(dq), D, floats(dkv), floats(dkv) + D, 2 * D});
    return {dq, dkv, Tensor(), Tensor()};
  }
};

struct LayerTensors {
  Tensor x, weight_in, bias_in, weight_out, bias_out;  // bias_in may be missing
  Tensor positions;                                    // none: all
  Tensor q, kv, context, lse;                          // of the kernel, for its backward pass

  variable_list list() const { return {x, weight_in, bias_in, weight_out, bias_out, positions, q, kv, context, lse}; }

  kernels::AttentionLayerInput input(std::int64_t heads) const {
    return {.B = extent(x, 0),
            .L = extent(x, 1),
            .H = static_cast<std::size_t>(heads),
            .D = extent(x, 2),
            .x = floats(x),
            .weight_in = floats(weight_in),
            .bias_in = floats(bias_in),
            .weight_out = floats(weight_out),
            .bias_out = floats(bias_out),
            .positions = positions.defined() ? positions.data_ptr<std::int64_t>() : nullptr,
            .R = positions.defined() ? extent(positions, 0) : 0};
  }
  kernels::AttentionLayerSaved saved() const { return {floats(q), floats(kv), floats(context), floats(lse)}; }
};

class AttentionLayer : public Operation<AttentionLayer> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& weight_in,
                        const c10::optional<Tensor>& bias_in, const Tensor& weight_out, const Tensor& bias_out,
                        const c10::optional<Tensor>& positions, std::int64_t heads) {
    LayerTensors t{input.contiguous(),
                   weight_in,
                   value_of(bias_in),
                   weight_out,
                   bias_out,
                   positions ? positions->contiguous() : Tensor(),
                   {},
                   {},
                   {},
                   {}};
    const Tensor& x = t.x;
    const auto in = t.input(heads);
    const auto R = static_cast<std::int64_t>(in.rows()), D = x.size(2);
    t.q = torch::empty({R, D}, x.options());
    t.kv = torch::empty({x.size(0), x.size(1), 2 * D}, x.options());
    t.context = torch::empty_like(t.q);
    t.lse = torch::empty({R, heads}, x.options());
    Tensor out = positions ? torch::empty_like(t.q) : torch::empty_like(x);
    kernels::attention_layer(in, floats(out), t.saved());
    context->save_for_backward(t.list());
    context->saved_data["heads"] = heads;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<LayerTensors>(context->get_saved_variables());
    const Tensor dout = gradients[0].contiguous();
    Tensor dx = torch::empty_like(t.x);
    const WeightGradient weight_in(t.weight_in, true), bias_in(t.bias_in, t.bias_in.defined()),
        weight_out(t.weight_out, true), bias_out(t.bias_out, true);
    kernels::attention_layer_backward(
        t.input(context->saved_data["heads"].toInt()), t.saved(), floats(dout),
        {floats(dx), weight_in.data(), bias_in.data(), weight_out.data(), bias_out.data()});
    return {dx, weight_in.result(), bias_in.result(), weight_out.result(), bias_out.result(), Tensor(), Tensor()};
  }
};

}  // namespace

Tensor attention_layer(const Tensor& x, const c10::optional<Tensor>& positions, const AttentionWeights& weights,
                       std::int64_t heads) {
  return AttentionLayer::apply(x, weights.in, optional(weights.in_bias), weights.out, weights.out_bias, positions,
                               heads);
}

Tensor causal_attention(const Tensor& qkv, std::int64_t heads) { return CausalAttention::apply(qkv, heads); }

Tensor causal_attention_at(const Tensor& q, const Tensor& kv, const Tensor& positions, std::int64_t heads) {
  return AttentionAtPositions::apply(q, kv, positions, heads);
}

}  // namespace mneme::ops
