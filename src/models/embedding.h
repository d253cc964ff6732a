// Token and position embeddings.
#pragma once

#include <cstdint>

#include "mixers/torch.h"

namespace mneme {

class Embeddings : public torch::nn::Module {
 public:
  // max_positions = 0: no learned positions.
  Embeddings(std::int64_t vocab, std::int64_t width, std::int64_t max_positions);

  // tokens [B, L] int32 -> [B, L, D]. On the CPU in float32 the gradient of the table is added straight
  // into its grad(), without a dense [vocab, D] tensor per call.
  torch::Tensor forward(const torch::Tensor& tokens);

  const torch::Tensor& table() const { return word_embeddings_->weight; }

 private:
  torch::nn::Embedding word_embeddings_{nullptr}, position_embeddings_{nullptr};
};

}  // namespace mneme
