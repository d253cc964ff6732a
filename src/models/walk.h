// One way through a stack: over whole sequences, or over the next token of each.
//
// Blocks are written once against this; which of the two forms of a mixer runs is decided here.
#pragma once

#include <cstdint>
#include <vector>

#include "mixers/mixer.h"
#include "models/watcher.h"
#include "ops/profile.h"
#include "ops/tap.h"

namespace mneme::models {

// What a model carries from one token to the next.
struct ModelState {
  std::vector<mixers::MixerState> mixers;  // in the order in which they are applied
  std::int64_t position = 0;               // tokens read so far
  // Floats per sequence: what RunConfig::state() declares.
  std::int64_t size() const {
    std::int64_t floats = 0;
    for (const mixers::MixerState& state : mixers) floats += state.size();
    return floats;
  }
};

class Walk {
 public:
  // Tensors are [B, L, D].
  explicit Walk(nn::Pass& pass) : pass_(pass) {}
  // The same, for a model that is read at labelled positions only, indices [R] into [B * L].
  Walk(nn::Pass& pass, torch::Tensor labelled) : pass_(pass), labelled_(std::move(labelled)) {}
  // Tensors are [B, D]. `state` is moved on by the mixers; its position by the model.
  Walk(nn::Pass& pass, ModelState& state) : pass_(pass), state_(&state) {}

  torch::Tensor mix(mixers::Mixer& mixer, const torch::Tensor& x) {
    const ops::Part part(mixer.name_in_catalog);
    if (state_) return mixer.step_in_stack(state_->mixers.at(next_++), x, pass_);
    if (!ops::is_tapped() || mixer.is_pointwise()) return mixer.forward(x, pass_);
    const torch::Tensor y = mixer.forward(ops::tap(ops::TapPoint::input, x, mixer), pass_);
    return ops::tap(ops::TapPoint::output, y, mixer);
  }

  // The same at the labelled positions only: [R, D].
  torch::Tensor mix_labelled(mixers::Mixer& mixer, const torch::Tensor& x) {
    const ops::Part part(mixer.name_in_catalog);
    return mixer.forward_at(x, labelled_, pass_);
  }

  // Shows x to the watcher, if there is one. Not in a walk with labelled positions: a watcher sees every position.
  void watch(Watcher* watcher) { watcher_ = watcher; }
  bool is_watched() const { return watcher_ != nullptr; }
  torch::Tensor shown(const Site& site, const torch::Tensor& x) { return watcher_ ? watcher_->visit(site, x) : x; }

  bool is_step() const { return state_ != nullptr; }
  std::int64_t position() const { return state_ ? state_->position : 0; }  // of the first token
  torch::Tensor dropout(const torch::Tensor& x, double p) { return pass_.dropout(x, p); }
  nn::Pass& pass() { return pass_; }

  // The labelled positions; undefined if all are needed.
  const torch::Tensor& labelled() const { return labelled_; }
  // The stack calls this: from here on, whatever no later position needs may be left out.
  void enter_last_layer() { in_last_layer_ = true; }
  bool in_last_layer() const { return in_last_layer_; }

 private:
  nn::Pass& pass_;
  torch::Tensor labelled_;
  bool in_last_layer_ = false;
  ModelState* state_ = nullptr;
  Watcher* watcher_ = nullptr;
  std::size_t next_ = 0;
};

}  // namespace mneme::models
