// What a forward pass must know in addition to its input: whether it trains, and where its dropout bits come from.
#pragma once

#include <cstdint>

#include "ops/torch.h"

namespace mneme::nn {

// Each dropout or other draw in a pass is a "site", numbered in the order of calls; a mask is a function of
// (key, step, micro-batch, site), so a resumed run draws the same masks.
class Pass {
 public:
  // Evaluation: dropout is the identity.
  static Pass evaluation() { return Pass(); }
  static Pass training(std::uint64_t dropout_key, std::uint64_t step, std::uint64_t micro_batch);

  bool is_training() const { return training_; }

  // Inverted dropout: scales what it keeps by 1 / (1 - p).
  torch::Tensor dropout(const torch::Tensor& x, double p);

  // Uniform in 0..largest, int64 [count]: a site like a dropout; all zero in evaluation.
  torch::Tensor integers(std::int64_t count, std::int64_t largest);

  // A seed for a foreign generator (a Python mixer's dropout): a site like a dropout; 0 in evaluation.
  std::uint64_t seed();

  // What the first layer of a kind leaves for those above it in the same stack (RWKV-7: its values, [B, L, D]).
  torch::Tensor first_values;

 private:
  bool training_ = false;
  std::uint64_t key_ = 0;
  std::uint64_t item_ = 0;
};

}  // namespace mneme::nn
