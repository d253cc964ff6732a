// What stands in front of the stack: token embeddings or the projection of a signal, and positions.
#pragma once

#include <cstdint>

#include "mixers/torch.h"

namespace mneme {

class Embeddings : public torch::nn::Module {
 public:
  // vocab = 0: the input is a signal, projected from one number to the width. max_positions = 0: no learned
  // positions.
  Embeddings(std::int64_t vocab, std::int64_t width, std::int64_t max_positions);

  // Tokens [B, L] int32, or a signal [B, L] of floats -> [B, L, D]. For tokens on the CPU in float32 the
  // gradient of the table is added straight into its grad(), without a dense [vocab, D] tensor per call.
  torch::Tensor forward(const torch::Tensor& input);

  const torch::Tensor& table() const { return word_embeddings_->weight; }

 private:
  torch::Tensor embed(const torch::Tensor& input);

  torch::nn::Embedding word_embeddings_{nullptr}, position_embeddings_{nullptr};
  torch::nn::Linear input_projection_{nullptr};
};

}  // namespace mneme
