#include "mixers/attention_op.h"

#include <cmath>

#include "kernels/causal_attention.h"
#include "mixers/operation.h"

namespace mneme {
namespace {

kernels::AttentionShape shape_of(const torch::Tensor& qkv, std::int64_t heads) {
  const std::int64_t d = qkv.size(2) / 3 / heads;
  return {static_cast<std::size_t>(qkv.size(0)), static_cast<std::size_t>(qkv.size(1)), static_cast<std::size_t>(heads),
          static_cast<std::size_t>(d), static_cast<float>(1.0 / std::sqrt(static_cast<double>(d)))};
}

class CausalAttention : public Operation<CausalAttention> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& input, std::int64_t heads) {
    const torch::Tensor qkv = input.contiguous();
    const std::int64_t B = qkv.size(0), L = qkv.size(1);
    torch::Tensor out = torch::empty({B, L, qkv.size(2) / 3}, qkv.options());
    torch::Tensor lse = torch::empty({B, heads, L}, qkv.options());
    kernels::causal_attention(shape_of(qkv, heads), qkv.data_ptr<float>(), out.data_ptr<float>(), lse.data_ptr<float>());
    context->save_for_backward({qkv, lse});
    context->saved_data["heads"] = heads;
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor &qkv = saved[0], &lse = saved[1];
    const torch::Tensor dout = gradients[0].contiguous();
    torch::Tensor dqkv = torch::empty_like(qkv);
    kernels::causal_attention_backward(shape_of(qkv, context->saved_data["heads"].toInt()), qkv.data_ptr<float>(),
                                       lse.data_ptr<float>(), dout.data_ptr<float>(), dqkv.data_ptr<float>());
    return {dqkv, torch::Tensor()};
  }
};

}  // namespace

torch::Tensor causal_attention(const torch::Tensor& qkv, std::int64_t heads) { return CausalAttention::apply(qkv, heads); }

}  // namespace mneme
