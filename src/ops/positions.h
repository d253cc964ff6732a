// Some positions of sequences instead of all.
#pragma once

#include <utility>

#include "ops/torch.h"

namespace mneme::ops {

// [B, L, ..] -> [R, ..]: the given positions, indices [R] into [B * L], ascending, each once.
torch::Tensor select_positions(const torch::Tensor& x, const torch::Tensor& indices);

// The positions whose outputs are needed, all or the labelled ones. A mixer treats only these in the part that handles
// each token alone, after the last operation that mixes tokens.
class Positions {
 public:
  Positions() = default;  // all
  explicit Positions(torch::Tensor indices) : indices_(std::move(indices)) {}

  // x [B, L, ..] itself, or [R, ..].
  torch::Tensor of(const torch::Tensor& x) const { return indices_.defined() ? select_positions(x, indices_) : x; }
  bool are_all() const { return !indices_.defined(); }
  const torch::Tensor& indices() const { return indices_; }  // undefined: all

 private:
  torch::Tensor indices_;
};

}  // namespace mneme::ops
