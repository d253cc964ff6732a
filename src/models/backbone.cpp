#include "models/backbone.h"

#include "core/error.h"
#include "ops/layer_norm.h"

namespace mneme::models {

Backbone::Backbone(std::int64_t width, std::vector<std::shared_ptr<Block>> blocks, const BackboneOptions& options)
    : blocks_(std::move(blocks)), embed_dropout_(options.embed_dropout), resid_dropout_(options.resid_dropout) {
  torch::nn::ModuleList list;
  for (const auto& block : blocks_) list->push_back(block);
  register_module("layers", list);
  if (options.final_norm == "layernorm")
    layer_norm_ =
        register_module("ln_f", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}).eps(options.final_eps)));
  else if (options.final_norm == "rmsnorm")
    rms_norm_ = register_module("ln_f", std::make_shared<nn::RmsNorm>(width, options.final_eps));
  else
    require(options.final_norm == "none", "a final norm of the schema");
}

torch::Tensor Backbone::forward(const torch::Tensor& embedded, Walk& walk) {
  const ops::Part part("norms, residual");
  Stream stream{walk.dropout(embedded, embed_dropout_), {}};
  for (const auto& block : blocks_) {
    if (block == blocks_.back()) walk.enter_last_layer();
    block->apply(stream, walk);
  }
  stream.show(walk, {layers() - 1, Place::block_output});
  if (walk.labelled().defined() && !stream.settled) {
    stream.h = ops::select_positions(stream.h, walk.labelled());
    if (stream.residual.defined()) stream.residual = ops::select_positions(stream.residual, walk.labelled());
  }
  if (stream.residual.defined()) {
    stream.add_branch(walk, resid_dropout_);
    stream.h = stream.residual.to(stream.h.scalar_type());
  }
  if (rms_norm_) return rms_norm_->forward(stream.h);
  return layer_norm_.is_empty() ? stream.h : ops::normed(stream.h, layer_norm_);
}

std::vector<LayerMixer> Backbone::mixers() const {
  std::vector<LayerMixer> list;
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer)
    for (mixers::Mixer* mixer : blocks_[layer]->mixers())
      list.push_back({static_cast<std::int64_t>(layer), mixer == blocks_[layer]->mixers().front(), mixer});
  return list;
}

bool Backbone::has_step() const {
  for (const LayerMixer& each : mixers())
    if (!each.mixer->has_step()) return false;
  return true;
}

std::vector<mixers::MixerState> Backbone::initial_states(std::int64_t batch) const {
  std::vector<mixers::MixerState> states;
  for (const LayerMixer& each : mixers()) states.push_back(each.mixer->initial_state(batch));
  return states;
}

}  // namespace mneme::models
