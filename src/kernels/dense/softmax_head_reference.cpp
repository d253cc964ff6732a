#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/dense/linear.h"
#include "kernels/dense/softmax_head.h"

namespace mneme::kernels {
namespace {

// z [V] -> scale * (softmax(z) - [v = label]); returns the loss.
float row_reference(std::vector<float>& z, std::int32_t label, float scale, std::int32_t& prediction) {
  const bool broken = std::any_of(z.begin(), z.end(), [](float value) { return std::isnan(value); });
  const auto largest = std::max_element(z.begin(), z.end());
  const double m = *largest;
  if (broken || std::isinf(m)) {
    prediction = -1;
    std::fill(z.begin(), z.end(), std::numeric_limits<float>::quiet_NaN());
    return std::numeric_limits<float>::quiet_NaN();
  }
  prediction = static_cast<std::int32_t>(largest - z.begin());
  const auto y = static_cast<std::size_t>(label);
  double sum = 0;
  for (const float value : z) sum += std::exp(value - m);
  const double loss = std::log(sum) + m - z[y];
  for (std::size_t v = 0; v < z.size(); ++v)
    z[v] = static_cast<float>(scale * (std::exp(z[v] - m) / sum - (v == y ? 1.0 : 0.0)));
  return static_cast<float>(loss);
}

}  // namespace

void softmax_head_reference(const SoftmaxHeadInput& in, float* losses, std::int32_t* predictions,
                            const SoftmaxHeadGradients* to) {
  const LinearShape one{1, in.D, in.V};
  std::vector<float> z(in.V);
  for (std::size_t r = 0; r < in.R; ++r) {
    const float* h = in.h + r * in.D;
    linear_reference(one, h, in.weight, in.bias, z.data());
    losses[r] = row_reference(z, in.labels[r], to ? to->scale : 1.0F, predictions[r]);
    if (to) linear_backward_reference(one, h, in.weight, z.data(), {to->dh + r * in.D, to->dweight, to->dbias});
  }
}

}  // namespace mneme::kernels
