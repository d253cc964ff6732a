#include "kernels/dense/layer_norm.h"

#include <cmath>

namespace mneme::kernels {
namespace {

struct Moments {
  double mean, scale;
};

Moments moments_of(const LayerNormInput& norm, const float* r) {
  const auto D = static_cast<double>(norm.D);
  double mean = 0, variance = 0;
  for (std::size_t i = 0; i < norm.D; ++i) mean += r[i] / D;
  for (std::size_t i = 0; i < norm.D; ++i) variance += (r[i] - mean) * (r[i] - mean) / D;
  return {mean, 1.0 / std::sqrt(variance + norm.eps)};
}

}  // namespace

void layer_norm_reference(const LayerNormInput& norm, float* out, const LayerNormSaved& saved) {
  const float *a = norm.a, *b = norm.b;
  float* r = saved.r;
  for (std::size_t t = 0; t < norm.T; ++t) {
    const std::size_t at = t * norm.D;
    for (std::size_t i = 0; b && i < norm.D; ++i) r[at + i] = a[at + i] + b[at + i];
    const float* row = (b ? r : a) + at;
    const auto [mean, scale] = moments_of(norm, row);
    for (std::size_t i = 0; i < norm.D; ++i)
      out[at + i] = static_cast<float>((row[i] - mean) * scale * norm.weight[i] + norm.bias[i]);
  }
}

void layer_norm_backward_reference(const LayerNormInput& norm, const LayerNormSaved& saved, const float* dout,
                                   const LayerNormGradients& gradients) {
  const auto [dr, dweight, dbias, through] = gradients;
  const float* r = saved.r;
  const auto D = static_cast<double>(norm.D);
  for (std::size_t t = 0; t < norm.T; ++t) {
    const std::size_t at = t * norm.D;
    const auto [mean, scale] = moments_of(norm, r + at);
    double sum = 0, along = 0;
    for (std::size_t i = 0; i < norm.D; ++i) {
      const double n = (r[at + i] - mean) * scale, dn = static_cast<double>(dout[at + i]) * norm.weight[i];
      sum += dn / D;
      along += dn * n / D;
      dweight[i] += static_cast<float>(dout[at + i] * n);
      dbias[i] += dout[at + i];
    }
    for (std::size_t i = 0; i < norm.D; ++i) {
      const double n = (r[at + i] - mean) * scale, dn = static_cast<double>(dout[at + i]) * norm.weight[i];
      dr[at + i] = static_cast<float>(scale * (dn - sum - n * along) + (through ? through[at + i] : 0.0));
    }
  }
}

}  // namespace mneme::kernels
