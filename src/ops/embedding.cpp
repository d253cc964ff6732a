#include "ops/embedding.h"

#include "kernels/dense/embedding.h"
#include "ops/operation.h"
#include "ops/tensors.h"
#include "ops/weight_gradient.h"

namespace mneme::ops {
namespace {

kernels::TokenRows token_rows(const torch::Tensor& tokens, const torch::Tensor& table) {
  return {extent(tokens, 0), extent(tokens, 1), extent(table, 1), tokens.data_ptr<std::int32_t>()};
}

// Rows of a table, plus rows [start, start + L) of a table of positions if there is one.
class Lookup : public Operation<Lookup> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& table,
                               const torch::Tensor& tokens, const c10::optional<torch::Tensor>& positions,
                               std::int64_t start) {
    context->saved_data["tokens"] = tokens;
    context->saved_data["table"] = table;
    context->saved_data["positions"] = positions ? *positions : torch::Tensor();
    context->saved_data["start"] = start;
    const auto D = table.size(1);
    torch::Tensor out = torch::empty({tokens.size(0), tokens.size(1), D}, table.options().requires_grad(false));
    kernels::embed_tokens(token_rows(tokens, table), table.data_ptr<float>(),
                          positions ? positions->data_ptr<float>() + start * D : nullptr, out.data_ptr<float>());
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    auto& saved = context->saved_data;
    const torch::Tensor tokens = saved["tokens"].toTensor(), table = saved["table"].toTensor(),
                        positions = saved["positions"].toTensor(), rows = gradients[0].contiguous();
    const std::int64_t first = saved["start"].toInt() * table.size(1);
    WeightGradient dtable(table, true), dpositions(positions, positions.defined());
    kernels::embed_tokens_backward(token_rows(tokens, table), rows.data_ptr<float>(), dtable.data(),
                                   positions.defined() ? dpositions.data() + first : nullptr);
    return {dtable.result(), torch::Tensor(), dpositions.result(), torch::Tensor()};
  }
};

}  // namespace

torch::Tensor lookup(const torch::Tensor& table, const torch::Tensor& tokens, const torch::Tensor& positions,
                     std::int64_t start) {
  return Lookup::apply(table, tokens, optional(positions), start);
}

}  // namespace mneme::ops
