#include "nn/rotary.h"

#include <algorithm>

namespace mneme::nn {

void Rotary::extend(std::int64_t length, const torch::TensorOptions& options) {
  if (cos_.defined() && cos_.size(0) >= length && cos_.options().type_equal(options)) return;
  // Token by token, a table that grew by one row a step would be made anew at each.
  if (cos_.defined()) length = std::max(length, 2 * cos_.size(0));
  // Angles in double: in float32 their error would grow with the position.
  const auto doubles = torch::TensorOptions(torch::kFloat64);
  const torch::Tensor index = torch::arange(rotated_ / 2, doubles);
  const torch::Tensor theta = torch::pow(base_, index * (-2.0 / static_cast<double>(rotated_)));
  const torch::Tensor angle = torch::outer(torch::arange(length, doubles), theta);
  cos_ = torch::cos(angle).to(options);
  sin_ = torch::sin(angle).to(options);
}

torch::Tensor Rotary::apply(const torch::Tensor& x, std::int64_t start) {
  const std::int64_t L = x.size(2), half = rotated_ / 2;
  extend(start + L, x.options().requires_grad(false));
  const torch::Tensor cos = cos_.narrow(0, start, L), sin = sin_.narrow(0, start, L);
  const torch::Tensor a = x.narrow(3, 0, half), b = x.narrow(3, half, half);
  std::vector<torch::Tensor> parts = {a * cos - b * sin, b * cos + a * sin};
  if (rotated_ < x.size(3)) parts.push_back(x.narrow(3, rotated_, x.size(3) - rotated_));
  return torch::cat(parts, 3);
}

}  // namespace mneme::nn
