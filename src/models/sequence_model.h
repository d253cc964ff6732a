// Tokens or a signal in, hidden states out; the output layer belongs to the model, the loss does not.
#pragma once

#include <memory>

#include "config/run_config.h"
#include "models/backbone.h"
#include "models/embedding.h"

namespace mneme::models {

struct HeadShape {
  std::int64_t width = 0;
  std::int64_t classes = 0;  // 0: a signal, one number per step
  bool tied = true;          // the output matrix is the embedding table
  bool bias = false;
};

// Embeddings and stack under the names of the reference: backbone.embeddings..., backbone.layers...
class SequenceModel : public torch::nn::Module {
 public:
  SequenceModel(std::shared_ptr<Embeddings> embeddings, std::shared_ptr<Backbone> backbone, const HeadShape& head);

  // [B, L] -> [B, L, D]; a watcher, if given, sees what the layers read and write.
  torch::Tensor hidden(const torch::Tensor& input, nn::Pass& pass, Watcher* watcher = nullptr);
  // The same at the given positions, indices [R] into [B * L], without what only others would need: [R, D].
  torch::Tensor hidden_at(const torch::Tensor& input, const torch::Tensor& positions, nn::Pass& pass);
  torch::Tensor logits(const torch::Tensor& tokens, nn::Pass& pass);  // [B, L, classes]; for small cases
  torch::Tensor signal(const torch::Tensor& input, nn::Pass& pass);   // [B, L] -> [B, L]

  // The recurrent form, equal to hidden() token by token, without dropout: step(state, [B]) -> [B, D].
  bool has_step() const { return backbone_->has_step(); }
  ModelState initial_state(std::int64_t batch) const;
  torch::Tensor step(ModelState& state, const torch::Tensor& input);

  // The output layer on hidden states [.., D]: [.., classes], or [..] for a signal.
  torch::Tensor read_out(const torch::Tensor& hidden);
  const torch::Tensor& output_matrix() const;                      // [classes, D]
  const torch::Tensor& output_bias() const { return head_bias_; }  // [classes], or undefined
  std::int64_t layers() const { return backbone_->layers(); }
  // Of its parameters; what it reads must be there too.
  torch::Device device() const { return output_matrix().device(); }
  std::vector<LayerMixer> mixers() const { return backbone_->mixers(); }

 private:
  bool is_signal_;
  std::shared_ptr<Embeddings> embeddings_;
  std::shared_ptr<Backbone> backbone_;
  torch::nn::Linear lm_head_{nullptr};
  torch::Tensor head_bias_;
};

// Uninitialised but for torch's own construction; call initialise() on the result.
std::shared_ptr<SequenceModel> build_model(const config::RunConfig& run);

}  // namespace mneme::models
