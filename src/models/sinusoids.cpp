#include "models/sinusoids.h"

#include <algorithm>

namespace mneme::models {
namespace {

// Token by token, rows are made this many at a time: the table does not grow with the sequence.
constexpr std::int64_t kAhead = 1024;

}  // namespace

torch::Tensor Sinusoids::rows(std::int64_t start, std::int64_t length, const torch::TensorOptions& options) {
  const auto plain = options.requires_grad(false);
  const bool there = table_.defined() && first_ <= start && first_ + table_.size(0) >= start + length;
  if (!there || !table_.options().type_equal(plain)) {
    first_ = start;
    const std::int64_t rows = start == 0 ? length : std::max(length, kAhead);
    // In double: in float32 the error of an angle would grow with the position.
    const auto doubles = torch::TensorOptions(torch::kFloat64);
    const torch::Tensor rate =
        torch::pow(10000.0, torch::arange(0, width_, 2, doubles) * (-1.0 / static_cast<double>(width_)));
    const torch::Tensor angle = torch::outer(torch::arange(start, start + rows, doubles), rate);  // [t, ceil(D / 2)]
    table_ = torch::stack({torch::sin(angle), torch::cos(angle)}, 2).flatten(1).narrow(1, 0, width_).to(plain);
  }
  return table_.narrow(0, start - first_, length);
}

}  // namespace mneme::models
