#include "models/embedding.h"

#include <fmt/format.h>

#include "core/error.h"
#include "kernels/embedding.h"

namespace mneme {
namespace {

class Lookup : public torch::autograd::Function<Lookup> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& table,
                               const torch::Tensor& tokens) {
    context->saved_data["tokens"] = tokens;
    context->saved_data["table"] = table;
    const auto D = table.size(1);
    torch::Tensor out = torch::empty({tokens.size(0), tokens.size(1), D}, table.options().requires_grad(false));
    kernels::gather_rows(table.data_ptr<float>(), tokens.data_ptr<std::int32_t>(),
                         static_cast<std::size_t>(tokens.numel()), static_cast<std::size_t>(D), out.data_ptr<float>());
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const torch::Tensor tokens = context->saved_data["tokens"].toTensor();
    torch::Tensor table = context->saved_data["table"].toTensor();
    if (!table.grad().defined()) table.mutable_grad() = torch::zeros_like(table);
    const torch::Tensor rows = gradients[0].contiguous();
    kernels::scatter_add_rows(table.mutable_grad().data_ptr<float>(), tokens.data_ptr<std::int32_t>(),
                              static_cast<std::size_t>(tokens.numel()), static_cast<std::size_t>(table.size(1)),
                              rows.data_ptr<float>());
    return {torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

Embeddings::Embeddings(std::int64_t vocab, std::int64_t width, std::int64_t max_positions) {
  if (vocab > 0) word_embeddings_ = register_module("word_embeddings", torch::nn::Embedding(vocab, width));
  else input_projection_ = register_module("input_projection", torch::nn::Linear(1, width));
  if (max_positions > 0)
    position_embeddings_ = register_module("position_embeddings", torch::nn::Embedding(max_positions, width));
}

torch::Tensor Embeddings::embed(const torch::Tensor& input) {
  if (!input_projection_.is_empty()) return input_projection_->forward(input.unsqueeze(2));
  const torch::Tensor& weight = word_embeddings_->weight;
  const bool plain = weight.device().is_cpu() && weight.scalar_type() == torch::kFloat32;
  return plain ? Lookup::apply(weight, input) : torch::embedding(weight, input.to(torch::kInt64));
}

torch::Tensor Embeddings::forward(const torch::Tensor& input) {
  const torch::Tensor x = embed(input);
  if (position_embeddings_.is_empty()) return x;
  const torch::Tensor& positions = position_embeddings_->weight;
  if (input.size(1) > positions.size(0))
    throw Error(ErrorKind::usage, "model.max_positions",
                fmt::format("a sequence of {} steps, expected at most {}", input.size(1), positions.size(0)));
  return x + positions.narrow(0, 0, input.size(1));
}

}  // namespace mneme
