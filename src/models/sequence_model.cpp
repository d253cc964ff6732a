#include "models/sequence_model.h"

namespace mneme {
namespace {

// Parameters are named backbone.embeddings.*, so the embeddings are a child of the backbone module.
std::shared_ptr<Backbone> with_embeddings(std::shared_ptr<Backbone> backbone, const std::shared_ptr<Embeddings>& embeddings) {
  backbone->register_module("embeddings", embeddings);
  return backbone;
}

}  // namespace

SequenceModel::SequenceModel(std::shared_ptr<Embeddings> embeddings, std::shared_ptr<Backbone> backbone,
                             std::int64_t width, std::int64_t classes, bool tied)
    : embeddings_(std::move(embeddings)) {
  backbone_ = register_module("backbone", with_embeddings(std::move(backbone), embeddings_));
  if (classes == 0) lm_head_ = register_module("lm_head", torch::nn::Linear(width, 1));
  else if (!tied)
    lm_head_ = register_module("lm_head", torch::nn::Linear(torch::nn::LinearOptions(width, classes).bias(false)));
}

torch::Tensor SequenceModel::hidden(const torch::Tensor& input, Pass& pass) {
  return backbone_->forward(embeddings_->forward(input), pass);
}

torch::Tensor SequenceModel::signal(const torch::Tensor& input, Pass& pass) {
  return lm_head_->forward(hidden(input, pass)).squeeze(2);
}

torch::Tensor SequenceModel::logits(const torch::Tensor& tokens, Pass& pass) {
  return torch::matmul(hidden(tokens, pass), output_matrix().t());
}

const torch::Tensor& SequenceModel::output_matrix() const {
  return lm_head_.is_empty() ? embeddings_->table() : lm_head_->weight;
}

std::shared_ptr<SequenceModel> build_model(const RunConfig& run) {
  const std::int64_t width = run.model.integer("width");
  std::vector<std::shared_ptr<Block>> blocks;
  for (std::int64_t layer = 0; layer < run.model.integer("layers"); ++layer) {
    const MixerConfig& mixer = run.mixers[static_cast<std::size_t>(layer) % run.mixers.size()];
    const MixerContext context = run.context(layer);
    blocks.push_back(std::make_shared<Block>(width, build_mixer(*mixer.entry, context, mixer.options),
                                             build_mixer(*run.state_mixer.entry, context, run.state_mixer.options)));
  }
  auto backbone = std::make_shared<Backbone>(width, std::move(blocks), run.model.real("embed_dropout"),
                                             run.model.real("resid_dropout"));
  auto embeddings = std::make_shared<Embeddings>(run.shape.vocab, width, run.model.integer("max_positions"));
  return std::make_shared<SequenceModel>(std::move(embeddings), std::move(backbone), width, run.shape.classes,
                                         run.model.flag("tied"));
}

}  // namespace mneme
