// Tokens in, hidden states out; the output matrix belongs to the model, the loss does not.
#pragma once

#include <memory>

#include "catalog/run_config.h"
#include "mixers/torch.h"
#include "models/backbone.h"
#include "models/embedding.h"

namespace mneme {

// Embeddings and stack under the names of the reference: backbone.embeddings..., backbone.layers...
class LanguageModel : public torch::nn::Module {
 public:
  LanguageModel(std::shared_ptr<Embeddings> embeddings, std::shared_ptr<Backbone> backbone, std::int64_t classes,
                bool tied);

  torch::Tensor hidden(const torch::Tensor& tokens, Pass& pass);  // [B, L] int32 -> [B, L, D]
  torch::Tensor logits(const torch::Tensor& tokens, Pass& pass);  // [B, L, classes]; for small cases

  const torch::Tensor& output_matrix() const;  // [classes, D]
  std::int64_t layers() const { return backbone_->layers(); }

 private:
  std::shared_ptr<Embeddings> embeddings_;
  std::shared_ptr<Backbone> backbone_;
  torch::nn::Linear lm_head_{nullptr};
};

// Uninitialised but for torch's own construction; call initialise() on the result.
std::shared_ptr<LanguageModel> build_model(const RunConfig& run);

}  // namespace mneme
