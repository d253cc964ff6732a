#include "models/sinusoids.h"

namespace mneme::models {

torch::Tensor Sinusoids::rows(std::int64_t start, std::int64_t length, const torch::TensorOptions& options) {
  const auto plain = options.requires_grad(false);
  if (!table_.defined() || table_.size(0) < start + length || !table_.options().type_equal(plain)) {
    // In double: in float32 the error of an angle would grow with the position.
    const auto doubles = torch::TensorOptions(torch::kFloat64);
    const torch::Tensor rate =
        torch::pow(10000.0, torch::arange(0, width_, 2, doubles) * (-1.0 / static_cast<double>(width_)));
    const torch::Tensor angle = torch::outer(torch::arange(start + length, doubles), rate);  // [t, ceil(D / 2)]
    table_ = torch::stack({torch::sin(angle), torch::cos(angle)}, 2).flatten(1).narrow(1, 0, width_).to(plain);
  }
  return table_.narrow(0, start, length);
}

}  // namespace mneme::models
