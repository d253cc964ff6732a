// The pre-norm residual stack of Zoology: blocks of a sequence mixer and a state mixer.
//
//   res = h                               (h: the embedded input)
//   for each layer:
//     res += dropout(h) (after layer 0);   h = sequence_mixer(norm1(res))
//     res += dropout(h);                   h = state_mixer(norm2(res))
//   out = ln_f(res + dropout(h))
// With the state mixer "identity" a block therefore adds norm2(res), as in the reference.
#pragma once

#include <vector>

#include "mixers/mixer.h"
#include "mixers/torch.h"

namespace mneme {

class Block : public torch::nn::Module {
 public:
  Block(std::int64_t width, MixerPointer sequence_mixer, MixerPointer state_mixer);

  torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  MixerPointer sequence_mixer, state_mixer;
};

// `final_eps` is that of ln_f. Dropout probability: `embed_dropout` on the input of layer 0, `resid_dropout` everywhere else.
class Backbone : public torch::nn::Module {
 public:
  Backbone(std::int64_t width, std::vector<std::shared_ptr<Block>> blocks, double embed_dropout, double resid_dropout,
           double final_eps = 1e-5);

  torch::Tensor forward(const torch::Tensor& embedded, Pass& pass);  // [B, L, D] -> [B, L, D]

  std::int64_t layers() const { return static_cast<std::int64_t>(blocks_.size()); }

 private:
  std::vector<std::shared_ptr<Block>> blocks_;
  torch::nn::LayerNorm ln_f_{nullptr};
  double embed_dropout_, resid_dropout_;
};

}  // namespace mneme
