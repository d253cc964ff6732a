// Some positions of sequences instead of all.
#pragma once

#include <utility>

#include "ops/torch.h"

namespace mneme::ops {

// [B, L, ..] -> [R, ..]: the positions `rows` [R] in [B * L], ascending, each once.
torch::Tensor select_rows(const torch::Tensor& x, const torch::Tensor& rows);

// The positions whose outputs are wanted. What a mixer does to each token alone, after tokens have met for the last
// time, it does to these.
class Positions {
 public:
  Positions() = default;  // all
  explicit Positions(torch::Tensor rows) : rows_(std::move(rows)) {}

  // x [B, L, ..] as it is, or [R, ..].
  torch::Tensor of(const torch::Tensor& x) const { return rows_.defined() ? select_rows(x, rows_) : x; }
  bool are_all() const { return !rows_.defined(); }
  const torch::Tensor& rows() const { return rows_; }  // undefined: all

 private:
  torch::Tensor rows_;
};

}  // namespace mneme::ops
