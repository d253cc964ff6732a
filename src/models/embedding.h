// What comes before the stack: token embeddings or the projection of a signal, and positions.
#pragma once

#include <cstdint>
#include <string>

#include "models/sinusoids.h"
#include "nn/pass.h"
#include "ops/torch.h"

namespace mneme::models {

struct EmbeddingShape {
  std::int64_t vocab = 0;           // 0: the input is a signal
  std::int64_t width = 0;           // E
  std::string input = "embedding";  // embedding, linear or raw, as in model.input
  std::string positions = "none";   // learned, sinusoidal and relative are added here; others are not its business
  std::int64_t max_positions = 0;   // of learned ones
  std::int64_t max_shift = 0;       // of relative ones
};

class Embeddings : public torch::nn::Module {
 public:
  explicit Embeddings(const EmbeddingShape& shape);

  // Tokens [B, L] int32, or a signal [B, L] of floats -> [B, L, E]; the first is at position `start`.
  // For an embedding of tokens on the CPU in float32 the gradients of the tables are added straight into their grad()s,
  // without a dense [vocab, E] tensor per call.
  torch::Tensor forward(const torch::Tensor& input, nn::Pass& pass, std::int64_t start = 0);

  const torch::Tensor& table() const { return word_embeddings_->weight; }

 private:
  torch::Tensor embed(const torch::Tensor& input);
  torch::Tensor one_hot(const torch::Tensor& tokens) const;
  // Tokens on the CPU in float32.
  bool uses_lookup() const;
  // Of learned positions; must have that many.
  const torch::Tensor& position_table(std::int64_t steps) const;
  // [L, E], or [B, L, E] where every sequence has its own shift.
  torch::Tensor positions(const torch::Tensor& input, const torch::Tensor& embedded, nn::Pass& pass,
                          std::int64_t start);

  EmbeddingShape shape_;
  torch::nn::Embedding word_embeddings_{nullptr}, position_embeddings_{nullptr};
  torch::nn::Linear input_projection_{nullptr};
  Sinusoids sinusoids_;
};

}  // namespace mneme::models
