// A layer of a stack: a sequence mixer, perhaps a state mixer, and how both meet the residual stream.
//
// With r the residual stream, mix the sequence mixer and feed the state mixer (where there is one):
//   zoology:   r += mix(LN1(r));  r += feed(LN2(r))
//   mamba:     the same with RMSNorm, the residual kept in at least float32
//   parallel:  r += mix(LN1(r)) + feed(LN2(r))
//   postnorm:  x = LN1(x + mix(x));  x = LN2(x + feed(x))
//   plain:     x = mix(x);  x = feed(x)
// docs/models.md says which paper uses which, and how parameters are named.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "models/walk.h"
#include "nn/rotary.h"

namespace mneme::models {

// What flows from layer to layer. Blocks with a residual stream leave their last branch for the next one to add.
struct Stream {
  torch::Tensor h;
  torch::Tensor residual;  // undefined before the first layer, and always in postnorm and plain stacks

  void add_branch(Walk& walk, double dropout);
  // The same, and the norm of the sum. If `positions` are given, the residual is kept at those only.
  torch::Tensor add_branch_and_norm(Walk& walk, double dropout, const torch::nn::LayerNorm& norm,
                                    const torch::Tensor& positions = {});
  // Shows the whole stream, the last branch added, to the walk's watcher.
  void show(Walk& walk, const Site& site);
  bool settled = false;  // labelled positions [R, D] instead of all [B, L, D]
};

struct BlockParts {
  std::int64_t width = 0;  // D after the sequence mixer
  mixers::MixerPointer sequence;
  mixers::MixerPointer state;  // null: none
  std::int64_t layer = 0;      // 0-based
  double dropout = 0;          // on branches, in training
  std::int64_t rotated = 0;    // channels of the sequence mixer's input that turn with their position; even
};

class Block : public torch::nn::Module {
 public:
  void apply(Stream& stream, Walk& walk) {
    stream.show(walk, {parts_.layer, Place::block_input});
    run(stream, walk);
  }
  std::vector<mixers::Mixer*> mixers() const;  // in the order of application

 protected:
  Block(BlockParts parts, const char* sequence_name, const char* state_name);
  virtual void run(Stream& stream, Walk& walk) = 0;

  // True in the last layer, unless its state mixer mixes positions too: after its sequence mixer has mixed them for the
  // last time, only labelled positions are computed.
  bool settles(const Walk& walk) const;
  // The labelled positions if this is such a layer, else undefined.
  torch::Tensor settling_positions(const Walk& walk) const { return settles(walk) ? walk.labelled() : torch::Tensor(); }
  // The sequence mixer's branch, at labelled positions only where the layer settles.
  torch::Tensor mix(const torch::Tensor& x, Walk& walk);
  // x at the positions of that branch.
  torch::Tensor settled(const torch::Tensor& x, const Walk& walk) const;
  torch::Tensor feed(const torch::Tensor& x, Walk& walk) {
    const torch::Tensor y = walk.mix(*parts_.state, walk.shown({parts_.layer, Place::mlp_input}, x));
    return walk.shown({parts_.layer, Place::mlp_output}, y);
  }
  bool has_state_mixer() const { return parts_.state != nullptr; }
  void settle_residual(Stream& stream, const Walk& walk) const;

  BlockParts parts_;

 private:
  torch::Tensor turned(const torch::Tensor& x, const Walk& walk);

  std::optional<nn::Rotary> rotary_;
};

// `kind` is a choice of model.block.
std::shared_ptr<Block> make_block(std::string_view kind, BlockParts parts);

}  // namespace mneme::models
