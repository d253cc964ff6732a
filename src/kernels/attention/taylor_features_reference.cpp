#include <cmath>
#include <vector>

#include "kernels/attention/taylor_features.h"

namespace mneme::kernels {

void taylor_features_reference(const float* x, std::size_t R, std::size_t F, float* phi) {
  const auto width = static_cast<double>(F);
  for (std::size_t r = 0; r < R; ++r, x += F) {
    *phi++ = 1.0F;
    for (std::size_t i = 0; i < F; ++i) *phi++ = static_cast<float>(x[i] / std::sqrt(std::sqrt(width)));
    for (std::size_t i = 0; i < F; ++i)
      for (std::size_t j = i; j < F; ++j)
        *phi++ = static_cast<float>(static_cast<double>(x[i]) * x[j] / std::sqrt(i == j ? 2.0 * width : width));
  }
}

void taylor_features_backward_reference(const float* x, const float* dphi, std::size_t R, std::size_t F, float* dx) {
  const auto width = static_cast<double>(F);
  for (std::size_t r = 0; r < R; ++r, x += F, dx += F) {
    std::vector<double> sum(F);
    ++dphi;
    for (std::size_t i = 0; i < F; ++i) sum[i] = *dphi++ / std::sqrt(std::sqrt(width));
    for (std::size_t i = 0; i < F; ++i)
      for (std::size_t j = i; j < F; ++j) {
        const double g = *dphi++ / std::sqrt(i == j ? 2.0 * width : width);
        sum[i] += g * x[j];
        sum[j] += g * x[i];
      }
    for (std::size_t i = 0; i < F; ++i) dx[i] = static_cast<float>(sum[i]);
  }
}

}  // namespace mneme::kernels
