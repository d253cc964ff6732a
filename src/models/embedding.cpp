#include "models/embedding.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "kernels/embedding.h"
#include "mixers/operation.h"
#include "mixers/profile.h"

namespace mneme {
namespace {

class Lookup : public Operation<Lookup> {
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

Embeddings::Embeddings(const EmbeddingShape& shape) : shape_(shape), sinusoids_(shape.width) {
  if (shape.input == "embedding")
    word_embeddings_ = register_module("word_embeddings", torch::nn::Embedding(shape.vocab, shape.width));
  else if (shape.input == "linear")
    input_projection_ =
        register_module("input_projection", torch::nn::Linear(std::max<std::int64_t>(shape.vocab, 1), shape.width));
  if (shape.positions == "learned")
    position_embeddings_ =
        register_module("position_embeddings", torch::nn::Embedding(shape.max_positions, shape.width));
}

torch::Tensor Embeddings::embed(const torch::Tensor& input) {
  if (!word_embeddings_.is_empty()) {
    const torch::Tensor& weight = word_embeddings_->weight;
    const bool plain = weight.device().is_cpu() && weight.scalar_type() == torch::kFloat32;
    return plain ? Lookup::apply(weight, input.contiguous()) : torch::embedding(weight, input.to(torch::kInt64));
  }
  if (input_projection_.is_empty()) return shape_.vocab == 0 ? input.unsqueeze(2) : one_hot(input);
  const torch::Tensor& weight = input_projection_->weight;
  if (shape_.vocab == 0) return input_projection_->forward(input.unsqueeze(2).to(weight.options()));
  // The product of a matrix and a one-hot vector is a column.
  return torch::embedding(weight.t(), input.to(torch::kInt64)) + input_projection_->bias;
}

torch::Tensor Embeddings::one_hot(const torch::Tensor& tokens) const {
  return torch::one_hot(tokens.to(torch::kInt64), shape_.vocab).to(torch::kFloat32);
}

torch::Tensor Embeddings::positions(const torch::Tensor& input, const torch::Tensor& embedded, Pass& pass,
                                    std::int64_t start) {
  const std::int64_t B = input.size(0), L = input.size(1);
  if (shape_.positions == "learned") {
    const torch::Tensor& table = position_embeddings_->weight;
    if (start + L > table.size(0))
      throw Error(ErrorKind::usage, "model.max_positions",
                  fmt::format("a sequence of {} steps, expected at most {}", start + L, table.size(0)));
    return table.narrow(0, start, L);
  }
  if (shape_.positions == "sinusoidal" || !pass.is_training()) return sinusoids_.rows(start, L, embedded.options());
  const torch::Tensor codes = sinusoids_.rows(0, start + L + shape_.max_shift, embedded.options());
  const torch::Tensor first = pass.integers(B, shape_.max_shift) + start;
  const torch::Tensor places = first.unsqueeze(1) + torch::arange(L, torch::kInt64);  // [B, L]
  return torch::embedding(codes, places.to(embedded.device()));
}

torch::Tensor Embeddings::forward(const torch::Tensor& input, Pass& pass, std::int64_t start) {
  const Part part("embedding");
  const torch::Tensor x = embed(input);
  const bool added =
      shape_.positions == "learned" || shape_.positions == "sinusoidal" || shape_.positions == "relative";
  return added ? x + positions(input, x, pass, start) : x;
}

}  // namespace mneme
