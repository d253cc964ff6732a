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

 private:
  void extend(std::int64_t length, const torch::TensorOptions& options);

  std::int64_t rotated_;
  double base_;
  torch::Tensor cos_, sin_;  // [length so far, rotated / 2], grown on demand
};

}  // namespace mneme::nn
