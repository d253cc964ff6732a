#include "models/sequence_model.h"

#include "core/error.h"
#include "mixers/declaration.h"
#include "ops/tap.h"

namespace mneme::models {
namespace {

// Parameters are named backbone.embeddings.*, so the embeddings are a child of the backbone module.
std::shared_ptr<Backbone> with_embeddings(std::shared_ptr<Backbone> backbone,
                                          const std::shared_ptr<Embeddings>& embeddings) {
  backbone->register_module("embeddings", embeddings);
  return backbone;
}

std::shared_ptr<Block> build_block(const config::RunConfig& run, std::int64_t layer) {
  const config::MixerConfig& mixer = run.mixer(layer);
  const catalog::MixerContext context = run.context(layer);
  BlockParts parts;
  parts.width = run.model.integer("width");
  parts.sequence = mixers::build_mixer(*mixer.entry, context, mixer.options);
  mixers::hold_to_declaration(*parts.sequence, *mixer.entry, context, mixer.options);
  if (run.state_mixer)
    parts.state = mixers::build_mixer(*run.state_mixer.entry, run.state_context(layer), run.state_mixer.options);
  parts.layer = layer;
  parts.dropout = run.model.real("resid_dropout");
  // An odd channel stays as it is.
  if (run.rotates_input(layer)) parts.rotated = context.width / 2 * 2;
  return make_block(run.model.text("block"), std::move(parts));
}

EmbeddingShape embedding_shape(const config::RunConfig& run) {
  return {.vocab = run.shape.vocab,
          .width = run.model.integer("embed_width"),
          .input = run.model.text("input"),
          .positions = run.model.text("positions"),
          .max_positions = run.model.integer("max_positions"),
          .max_shift = run.model.integer("max_shift")};
}

}  // namespace

SequenceModel::SequenceModel(std::shared_ptr<Embeddings> embeddings, std::shared_ptr<Backbone> backbone,
                             const HeadShape& head)
    : is_signal_(head.classes == 0), embeddings_(std::move(embeddings)) {
  backbone_ = register_module("backbone", with_embeddings(std::move(backbone), embeddings_));
  if (head.tied && !is_signal_) {
    // The bias of a head that has no matrix of its own.
    if (head.bias) head_bias_ = register_parameter("lm_head_bias", torch::zeros({embeddings_->table().size(0)}));
    return;
  }
  const auto shape = torch::nn::LinearOptions(head.width, is_signal_ ? 1 : head.classes).bias(head.bias);
  lm_head_ = register_module("lm_head", torch::nn::Linear(shape));
  head_bias_ = lm_head_->bias;
}

torch::Tensor SequenceModel::hidden(const torch::Tensor& input, nn::Pass& pass, Watcher* watcher) {
  require(!watcher || !pass.is_training(), "a watcher looks at a model that is evaluated");
  Walk walk(pass);
  walk.watch(watcher);
  return backbone_->forward(ops::tap(ops::TapPoint::embedded, embeddings_->forward(input, pass), *this), walk);
}

torch::Tensor SequenceModel::hidden_at(const torch::Tensor& input, const torch::Tensor& positions, nn::Pass& pass) {
  Walk walk(pass, positions);
  return backbone_->forward(embeddings_->forward(input, pass), walk);
}

ModelState SequenceModel::initial_state(std::int64_t batch) const { return {backbone_->initial_states(batch), 0}; }

torch::Tensor SequenceModel::step(ModelState& state, const torch::Tensor& input) {
  nn::Pass pass = nn::Pass::evaluation();
  Walk walk(pass, state);
  const torch::Tensor x = embeddings_->forward(input.unsqueeze(1), pass, state.position).squeeze(1);
  const torch::Tensor h = backbone_->forward(x, walk);
  ++state.position;
  return h;
}

torch::Tensor SequenceModel::read_out(const torch::Tensor& hidden) {
  const ops::Part part("head");
  const torch::Tensor out = torch::linear(hidden, output_matrix(), head_bias_);
  return is_signal_ ? out.squeeze(-1) : out;
}

torch::Tensor SequenceModel::signal(const torch::Tensor& input, nn::Pass& pass) {
  require(is_signal_, "a signal model");
  return read_out(hidden(input, pass));
}

torch::Tensor SequenceModel::logits(const torch::Tensor& tokens, nn::Pass& pass) {
  require(!is_signal_, "a token model");
  return read_out(hidden(tokens, pass));
}

const torch::Tensor& SequenceModel::output_matrix() const {
  return lm_head_.is_empty() ? embeddings_->table() : lm_head_->weight;
}

std::shared_ptr<SequenceModel> build_model(const config::RunConfig& run) {
  const std::int64_t width = run.model.integer("width");
  std::vector<std::shared_ptr<Block>> blocks;
  for (std::int64_t layer = 0; layer < run.model.integer("layers"); ++layer) blocks.push_back(build_block(run, layer));
  auto backbone = std::make_shared<Backbone>(width, std::move(blocks),
                                             BackboneOptions{.final_norm = run.model.text("final_norm"),
                                                             .embed_dropout = run.model.real("embed_dropout"),
                                                             .resid_dropout = run.model.real("resid_dropout")});
  auto embeddings = std::make_shared<Embeddings>(embedding_shape(run));
  return std::make_shared<SequenceModel>(
      std::move(embeddings), std::move(backbone),
      HeadShape{width, run.shape.classes, run.model.flag("tied"), run.model.flag("head_bias")});
}

}  // namespace mneme::models
