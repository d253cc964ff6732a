// Tokens or a signal in, hidden states out; the output layer belongs to the model, the loss does not.
#pragma once

#include <memory>

#include "catalog/run_config.h"
#include "mixers/torch.h"
#include "models/backbone.h"
#include "models/embedding.h"

namespace mneme {

// Embeddings and stack under the names of the reference: backbone.embeddings..., backbone.layers...
class SequenceModel : public torch::nn::Module {
 public:
  // classes = 0: a signal model, whose head gives one number a step.
  SequenceModel(std::shared_ptr<Embeddings> embeddings, std::shared_ptr<Backbone> backbone, std::int64_t width,
                std::int64_t classes, bool tied);

  torch::Tensor hidden(const torch::Tensor& input, Pass& pass);   // [B, L] -> [B, L, D]
  torch::Tensor logits(const torch::Tensor& tokens, Pass& pass);  // [B, L, classes]; for small cases
  torch::Tensor signal(const torch::Tensor& input, Pass& pass);   // [B, L] -> [B, L]

  const torch::Tensor& output_matrix() const;  // [classes, D]
  std::int64_t layers() const { return backbone_->layers(); }

 private:
  std::shared_ptr<Embeddings> embeddings_;
  std::shared_ptr<Backbone> backbone_;
  torch::nn::Linear lm_head_{nullptr};
};

// Uninitialised but for torch's own construction; call initialise() on the result.
std::shared_ptr<SequenceModel> build_model(const RunConfig& run);

}  // namespace mneme
