#include <algorithm>
#include <vector>

#include "kernels/conv/long_conv.h"

namespace mneme::kernels {

void long_conv_reference(const LongConvInput& in, float* out) {
  const auto [B, L, K, C] = in.shape;
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < L; ++t)
      for (std::size_t c = 0; c < C; ++c) {
        double sum = 0;
        for (std::size_t j = 0; j <= t && j < K; ++j)
          sum += static_cast<double>(in.kernel[j * C + c]) * in.x[(b * L + t - j) * C + c];
        out[(b * L + t) * C + c] = static_cast<float>(sum);
      }
}

void long_conv_backward_reference(const LongConvInput& in, const float* dout, const LongConvGradients& gradients) {
  const auto [B, L, K, C] = in.shape;
  std::vector<double> dx(B * L * C, 0.0), dk(K * C, 0.0);
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < L; ++t)
      for (std::size_t j = 0; j <= t && j < K; ++j)
        for (std::size_t c = 0; c < C; ++c) {
          const double dy = dout[(b * L + t) * C + c];
          dx[(b * L + t - j) * C + c] += dy * in.kernel[j * C + c];
          dk[j * C + c] += dy * in.x[(b * L + t - j) * C + c];
        }
  const auto narrow = [](double v) { return static_cast<float>(v); };
  if (gradients.dx) std::transform(dx.begin(), dx.end(), gradients.dx, narrow);
  if (gradients.dkernel) std::transform(dk.begin(), dk.end(), gradients.dkernel, narrow);
}

}  // namespace mneme::kernels
