// Named points of a model at which an analysis may look at a tensor, and put another in its place.
//
// Without a listener a tap is one comparison and returns its tensor. Points that mixers name:
//   values    what is mixed along the sequence, [B, L, C] or [B, L, H, d]
//   unmixed   the same before its short convolution, where it has one
//   mixed     what comes out, of the shape of values: linear in them, channel by channel, while all else is frozen
// and the model:
//   embedded  what enters the first layer, [B, L, E]
//   input, output   of each mixer that is not pointwise, [B, L, D]
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

enum class TapPoint { embedded, unmixed, values, mixed, input, output };

class TapListener {
 public:
  virtual ~TapListener() = default;
  // `owner` is the module that the point belongs to. What is returned replaces x.
  virtual torch::Tensor at(TapPoint point, const torch::Tensor& x, const torch::nn::Module& owner) = 0;
};

torch::Tensor tap(TapPoint point, const torch::Tensor& x, const torch::nn::Module& owner);

// True while something listens on this thread: a mixer then takes the path that has its points.
bool is_tapped();

// While alive, the listener of this thread.
class ScopedTap {
 public:
  explicit ScopedTap(TapListener& listener);
  ~ScopedTap();
  ScopedTap(const ScopedTap&) = delete;
  ScopedTap& operator=(const ScopedTap&) = delete;

 private:
  TapListener* previous_;
};

}  // namespace mneme::ops
