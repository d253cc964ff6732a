#include <algorithm>
#include <vector>

#include "kernels/conv/long_conv.h"

namespace mneme::kernels {

void long_conv_reference(const LongConvArguments& a) {
  const auto [B, L, K, C] = a.sizes;
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < L; ++t)
      for (std::size_t c = 0; c < C; ++c) {
        double sum = 0;
        for (std::size_t j = 0; j <= t && j < K; ++j)
          sum += static_cast<double>(a.kernel[j * C + c]) * a.x[(b * L + t - j) * C + c];
        a.y[(b * L + t) * C + c] = static_cast<float>(sum);
      }
}

void long_conv_backward_reference(const LongConvBackwardArguments& a) {
  const auto [B, L, K, C] = a.sizes;
  std::vector<double> dx(B * L * C, 0.0), dk(K * C, 0.0);
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < L; ++t)
      for (std::size_t j = 0; j <= t && j < K; ++j)
        for (std::size_t c = 0; c < C; ++c) {
          const double dy = a.dy[(b * L + t) * C + c];
          dx[(b * L + t - j) * C + c] += dy * a.kernel[j * C + c];
          dk[j * C + c] += dy * a.x[(b * L + t - j) * C + c];
        }
  const auto narrow = [](double v) { return static_cast<float>(v); };
  if (a.dx) std::transform(dx.begin(), dx.end(), a.dx, narrow);
  if (a.dk) std::transform(dk.begin(), dk.end(), a.dk, narrow);
}

}  // namespace mneme::kernels
