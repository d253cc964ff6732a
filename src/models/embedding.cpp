#include "models/embedding.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "ops/embedding.h"
#include "ops/path.h"
#include "ops/profile.h"

namespace mneme::models {

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
  if (!word_embeddings_.is_empty())
    return uses_lookup() ? ops::lookup(table(), input.contiguous())
                         : torch::embedding(table(), input.to(torch::kInt64));
  if (input_projection_.is_empty()) return shape_.vocab == 0 ? input.unsqueeze(2) : one_hot(input);
  const torch::Tensor& weight = input_projection_->weight;
  if (shape_.vocab == 0) return input_projection_->forward(input.unsqueeze(2).to(weight.options()));
  // The product of a matrix and a one-hot vector is a column.
  return torch::embedding(weight.t(), input.to(torch::kInt64)) + input_projection_->bias;
}

bool Embeddings::uses_lookup() const { return !word_embeddings_.is_empty() && ops::use_kernels(table()); }

torch::Tensor Embeddings::one_hot(const torch::Tensor& tokens) const {
  return torch::one_hot(tokens.to(torch::kInt64), shape_.vocab).to(torch::kFloat32);
}

const torch::Tensor& Embeddings::position_table(std::int64_t steps) const {
  const torch::Tensor& table = position_embeddings_->weight;
  if (steps > table.size(0))
    throw Error(ErrorKind::usage, "model.max_positions",
                fmt::format("a sequence of {} steps, expected at most {}", steps, table.size(0)));
  return table;
}

torch::Tensor Embeddings::positions(const torch::Tensor& input, const torch::Tensor& embedded, nn::Pass& pass,
                                    std::int64_t start) {
  const std::int64_t B = input.size(0), L = input.size(1);
  if (shape_.positions == "learned") return position_table(start + L).narrow(0, start, L);
  if (shape_.positions == "sinusoidal" || !pass.is_training()) return sinusoids_.rows(start, L, embedded.options());
  const torch::Tensor codes = sinusoids_.rows(0, start + L + shape_.max_shift, embedded.options());
  const torch::Tensor first = pass.integers(B, shape_.max_shift) + start;
  const torch::Tensor places = first.unsqueeze(1) + torch::arange(L, torch::kInt64);  // [B, L]
  return torch::embedding(codes, places.to(embedded.device()));
}

torch::Tensor Embeddings::forward(const torch::Tensor& input, nn::Pass& pass, std::int64_t start) {
  const ops::Part part("embedding");
  if (uses_lookup() && shape_.positions == "learned")
    return ops::lookup(table(), input.contiguous(), position_table(start + input.size(1)), start);
  const torch::Tensor x = embed(input);
  const bool added =
      shape_.positions == "learned" || shape_.positions == "sinusoidal" || shape_.positions == "relative";
  return added ? x + positions(input, x, pass, start) : x;
}

}  // namespace mneme::models
