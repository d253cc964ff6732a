// Fixed position codes: channel 2i of position t is sin(t 10000^(-2i / D)), channel 2i + 1 the cosine of the same.
#pragma once

#include <cstdint>

#include "ops/torch.h"

namespace mneme::models {

class Sinusoids {
 public:
  explicit Sinusoids(std::int64_t width) : width_(width) {}

  // Positions start..start + length - 1: [length, D], of the type and on the device of `options`.
  torch::Tensor rows(std::int64_t start, std::int64_t length, const torch::TensorOptions& options);

 private:
  std::int64_t width_;
  std::int64_t first_ = 0;  // the position of the table's first row
  torch::Tensor table_;     // of the positions that were asked for last, and some after them
};

}  // namespace mneme::models
