#include "mixers/attention_op.h"

#include <cmath>

#include "kernels/causal_attention.h"
#include "mixers/operation.h"
#include "mixers/rows.h"

namespace mneme {
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
  in.asked = rows.data_ptr<std::int64_t>();
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

class AskedAttention : public Operation<AskedAttention> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& queries, const Tensor& keys_and_values,
                        const Tensor& asked, std::int64_t heads) {
    const Tensor q = queries.contiguous(), kv = keys_and_values.contiguous(), rows = asked.contiguous();
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

}  // namespace

Tensor causal_attention(const Tensor& qkv, std::int64_t heads) { return CausalAttention::apply(qkv, heads); }

Tensor causal_attention_of_rows(const Tensor& q, const Tensor& kv, const Tensor& rows, std::int64_t heads) {
  return AskedAttention::apply(q, kv, rows, heads);
}

}  // namespace mneme
