#include "nn/rotary.h"

#include <algorithm>

namespace mneme::nn {
namespace {

// Token by token, rows are made this many at a time: the table does not grow with the sequence.
constexpr std::int64_t kAhead = 1024;

}  // namespace

void Rotary::cover(std::int64_t start, std::int64_t length, const torch::TensorOptions& options) {
  const bool there = cos_.defined() && first_ <= start && first_ + cos_.size(0) >= start + length;
  if (there && cos_.options().type_equal(options)) return;
  first_ = start;
  const std::int64_t positions = start == 0 ? length : std::max(length, kAhead);
  // Angles in double: in float32 their error would grow with the position.
  const auto doubles = torch::TensorOptions(torch::kFloat64);
  const torch::Tensor index = torch::arange(rotated_ / 2, doubles);
  const torch::Tensor theta = torch::pow(base_, index * (-2.0 / static_cast<double>(rotated_)));
  const torch::Tensor angle = torch::outer(torch::arange(start, start + positions, doubles), theta);
  cos_ = torch::cos(angle).to(options);
  sin_ = torch::sin(angle).to(options);
}

torch::Tensor Rotary::apply(const torch::Tensor& x, std::int64_t start) {
  const std::int64_t L = x.size(2), half = rotated_ / 2;
  cover(start, L, x.options().requires_grad(false));
  const torch::Tensor cos = cos_.narrow(0, start - first_, L), sin = sin_.narrow(0, start - first_, L);
  const torch::Tensor a = x.narrow(3, 0, half), b = x.narrow(3, half, half);
  std::vector<torch::Tensor> parts = {a * cos - b * sin, b * cos + a * sin};
  if (rotated_ < x.size(3)) parts.push_back(x.narrow(3, rotated_, x.size(3) - rotated_));
  return torch::cat(parts, 3);
}

}  // namespace mneme::nn
