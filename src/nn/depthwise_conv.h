// A depthwise convolution along the sequence, in the layout of PyTorch's Conv1d.
//
//   y[t, c] = bias[c] + sum_j weight[c, 0, W-1-j] * x[t - j + ahead, c],  x = 0 outside [0, L), or the SiLU of that
// ahead = 0 (causal) or (W - 1) / 2 (centred). The last tap multiplies the newest token.
#pragma once

#include "nn/draw.h"
#include "ops/torch.h"

namespace mneme::nn {

// What is done to the sum.
enum class ConvEnd { plain, silu };

class DepthwiseConv : public torch::nn::Module, public SelfInitialised {
 public:
  DepthwiseConv(std::int64_t channels, std::int64_t taps, bool bias, std::int64_t ahead = 0);

  torch::Tensor forward(const torch::Tensor& x, ConvEnd end = ConvEnd::plain) const;  // [B, L, C]
  // One token: `window` [B, W-1, C] holds the past inputs and is moved on. Causal only.
  torch::Tensor step(torch::Tensor& window, const torch::Tensor& x, ConvEnd end = ConvEnd::plain) const;  // [B, C]
  torch::Tensor initial_window(std::int64_t batch) const;

  // For a reader that a constant added to all of y does not change, as keys under a softmax: the gradient of the
  // bias is zero, and comes back as exactly that instead of as the rounding of a sum that should cancel.
  void set_shift_invariant() { shift_invariant_ = true; }

  void initialise(const Draw& draw, const std::string& prefix) override;

 private:
  torch::Tensor bias() const;  // undefined if there is none

  std::int64_t taps_, ahead_;
  bool shift_invariant_ = false;
  torch::Tensor weight_;  // [C, 1, W]
  torch::Tensor bias_;    // [C], or undefined
};

}  // namespace mneme::nn
