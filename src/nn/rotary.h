// Rotary positions, half-split pairs as in GPT-NeoX.
//
// Of each head's d channels the first `rotated` turn: with theta_i = base^(-2i / rotated), channels
// (i, i + rotated/2) at position t become (a cos - b sin, b cos + a sin), angle t * theta_i.
#pragma once

#include <cstdint>

#include "ops/torch.h"

namespace mneme::nn {

class Rotary {
 public:
  Rotary(std::int64_t rotated, double base) : rotated_(rotated), base_(base) {}

  // x [B, H, L, d]; the first token of x is at position `start`.
  torch::Tensor apply(const torch::Tensor& x, std::int64_t start = 0);

  // Positions that are held: the last ones asked for and some after them, however far the sequence goes.
  std::int64_t held() const { return cos_.defined() ? cos_.size(0) : 0; }

 private:
  void cover(std::int64_t start, std::int64_t length, const torch::TensorOptions& options);

  std::int64_t rotated_;
  double base_;
  std::int64_t first_ = 0;   // the position of the first row
  torch::Tensor cos_, sin_;  // [held(), rotated / 2]
};

}  // namespace mneme::nn
