// A tensor over time, as the recurrent layers walk it.
#pragma once

#include <utility>
#include <vector>

#include "ops/torch.h"

namespace mneme::ops {

// [L, B, C] with its steps as matrices [B, C] that share its memory.
struct Sequence {
  explicit Sequence(torch::Tensor values) : all(std::move(values)), step(all.unbind(0)) {}
  Sequence(std::int64_t L, std::int64_t B, std::int64_t C, const torch::Tensor& like)
      : Sequence(torch::empty({L, B, C}, like.options())) {}
  float* at(std::size_t t) const { return step[t].data_ptr<float>(); }

  torch::Tensor all;
  std::vector<torch::Tensor> step;
};

}  // namespace mneme::ops
