// The interface of every mixer, along the sequence or along the channels.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "catalog/mixer_entry.h"
#include "nn/draw.h"
#include "nn/pass.h"
#include "ops/positions.h"
#include "ops/torch.h"

namespace mneme::mixers {

// What must be carried from one token to the next, all tensors with the batch first.
struct MixerState {
  std::vector<torch::Tensor> tensors;
  // Floats per sequence: what `state` in the catalog declares.
  std::int64_t size() const;
};

// How a token moves the state on, for spectra (inspect/transitions.h). Without tensors: every float of the state may
// act on every other.
struct Recurrence {
  std::vector<std::size_t> tensors;   // at most one, of the state
  std::vector<std::int64_t> coupled;  // its dimensions (0 is the batch) along which elements act on each other
  int exponent = -1;                  // the state's tensor e if that one is kept as exp(-e) times what is meant
};

class Mixer : public torch::nn::Module {
 public:
  // [B, L, D] -> [B, L, D]; causal unless an option says otherwise.
  virtual torch::Tensor forward(const torch::Tensor& x, nn::Pass& pass) = 0;
  // The outputs at the given positions, indices [R] into [B * L], ascending: [R, D]. Overridden where that is less work
  // than forward().
  virtual torch::Tensor forward_at(const torch::Tensor& x, const torch::Tensor& positions, nn::Pass& pass);

  // Its name in the catalog, also used in profiles.
  std::string name_in_catalog;

  // The recurrent form, equal to forward token by token: step(state, x [B, D]) -> [B, D].
  virtual bool has_step() const { return false; }
  virtual MixerState initial_state(std::int64_t batch) const;
  virtual torch::Tensor step(MixerState& state, const torch::Tensor& x);
  // The same inside a stack, for a mixer that reads values of earlier layers from the pass.
  virtual torch::Tensor step_in_stack(MixerState& state, const torch::Tensor& x, nn::Pass&) { return step(state, x); }

  // True of a tensor of the state that holds the last inputs of a short convolution or token shift; the others are what
  // the recurrence carries.
  virtual bool is_window(std::size_t /*tensor*/) const { return false; }

  virtual Recurrence recurrence() const { return {}; }

  // True if every position is treated alone, whatever the leading dimensions: [.., D] -> [.., D].
  virtual bool is_pointwise() const { return false; }
};

using MixerPointer = std::shared_ptr<Mixer>;

// Builds a mixer or state mixer of the catalog. The options must have passed the entry's schema.
MixerPointer build_mixer(const catalog::MixerEntry& entry, const catalog::MixerContext& context,
                         const Options& options);

// Names that can be built, for the test that holds the list to the catalog.
std::vector<std::string> buildable_mixers();

}  // namespace mneme::mixers
