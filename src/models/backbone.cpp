#include "models/backbone.h"

namespace mneme {

Block::Block(std::int64_t width, MixerPointer sequence, MixerPointer state) {
  sequence_mixer = register_module("sequence_mixer", std::move(sequence));
  state_mixer = register_module("state_mixer", std::move(state));
  norm1 = register_module("norm1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  norm2 = register_module("norm2", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
}

Backbone::Backbone(std::int64_t width, std::vector<std::shared_ptr<Block>> blocks, double embed_dropout,
                   double resid_dropout, double final_eps)
    : blocks_(std::move(blocks)), embed_dropout_(embed_dropout), resid_dropout_(resid_dropout) {
  torch::nn::ModuleList list;
  for (const auto& block : blocks_) list->push_back(block);
  register_module("layers", list);
  ln_f_ = register_module("ln_f", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}).eps(final_eps)));
}

torch::Tensor Backbone::forward(const torch::Tensor& embedded, Pass& pass) {
  torch::Tensor h = embedded, res;
  for (const auto& block : blocks_) {
    res = res.defined() ? res + pass.dropout(h, resid_dropout_) : pass.dropout(h, embed_dropout_);
    h = block->sequence_mixer->forward(block->norm1->forward(res), pass);
    res = res + pass.dropout(h, resid_dropout_);
    h = block->state_mixer->forward(block->norm2->forward(res), pass);
  }
  return ln_f_->forward(res + pass.dropout(h, resid_dropout_));
}

}  // namespace mneme
