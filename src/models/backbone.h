// A stack of blocks between the embedding and the output layer.
//
//   x = dropout(embedded);  every block in turn;  the last branch is added to the residual;  final norm
#pragma once

#include <string>
#include <vector>

#include "models/block.h"
#include "nn/rms_norm.h"

namespace mneme::models {

struct BackboneOptions {
  std::string final_norm = "layernorm";  // layernorm, rmsnorm or none; its parameters are ln_f.*
  double final_eps = 1e-5;
  double embed_dropout = 0;  // on the input of layer 0
  double resid_dropout = 0;  // on the last branch
};

struct LayerMixer {
  std::int64_t layer = 0;
  bool is_sequence = true;  // else the state mixer
  mixers::Mixer* mixer = nullptr;
};

class Backbone : public torch::nn::Module {
 public:
  Backbone(std::int64_t width, std::vector<std::shared_ptr<Block>> blocks, const BackboneOptions& options = {});

  // [B, L, E] -> [B, L, D]; in a walk with labelled positions -> [R, D]; in a walk with a state [B, E] -> [B, D].
  torch::Tensor forward(const torch::Tensor& embedded, Walk& walk);

  // True if every mixer has a recurrent form.
  bool has_step() const;
  std::vector<mixers::MixerState> initial_states(std::int64_t batch) const;

  // All mixers with the layer that they are in, in the order of application: that of the states.
  std::vector<LayerMixer> mixers() const;

  std::int64_t layers() const { return static_cast<std::int64_t>(blocks_.size()); }

 private:
  std::vector<std::shared_ptr<Block>> blocks_;
  torch::nn::LayerNorm layer_norm_{nullptr};  // at most one of these
  std::shared_ptr<nn::RmsNorm> rms_norm_;
  double embed_dropout_, resid_dropout_;
};

}  // namespace mneme::models
