#include <cmath>
#include <vector>

#include "kernels/conv/short_conv.h"

namespace mneme::kernels {
namespace {

// Calls visit(output position, tap, input position) for every pair that exists.
template <class Visit>
void for_each_tap(const ShortConvShape& s, Visit visit) {
  for (std::size_t t = 0; t < s.L; ++t)
    for (std::size_t i = 0; i < s.W; ++i)
      if (t + i + s.ahead >= s.W - 1 && t + i + s.ahead - (s.W - 1) < s.L) visit(t, i, t + i + s.ahead - (s.W - 1));
}

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

}  // namespace

void short_conv_reference(const ShortConvShape& s, const float* x, const float* weight, const float* bias, float* out) {
  for (std::size_t b = 0; b < s.B; ++b) {
    const std::size_t at = b * s.L * s.C, from_at = b * s.L * s.stride;
    for (std::size_t t = 0; t < s.L; ++t)
      for (std::size_t c = 0; c < s.C; ++c) out[at + t * s.C + c] = bias ? bias[c] : 0.0F;
    for_each_tap(s, [&](std::size_t t, std::size_t i, std::size_t from) {
      for (std::size_t c = 0; c < s.C; ++c)
        out[at + t * s.C + c] += weight[c * s.W + i] * x[from_at + from * s.stride + c];
    });
  }
  if (s.silu)
    for (std::size_t i = 0; i < s.B * s.L * s.C; ++i) out[i] = static_cast<float>(out[i] * sigmoid(out[i]));
}

void short_conv_step_reference(const ShortConvShape& s, const float* window, const float* x, const float* weight,
                               const float* bias, float* next, float* out) {
  const std::size_t held = s.W - 1;
  for (std::size_t b = 0; b < s.B; ++b)
    for (std::size_t c = 0; c < s.C; ++c) {
      double z = bias ? bias[c] : 0.0;
      for (std::size_t i = 0; i < s.W; ++i) {
        const float token = i < held ? window[(b * held + i) * s.C + c] : x[b * s.stride + c];
        z += weight[c * s.W + i] * token;
        if (i > 0) next[(b * held + i - 1) * s.C + c] = token;
      }
      out[b * s.C + c] = static_cast<float>(s.silu ? z * sigmoid(z) : z);
    }
}

void short_conv_backward_reference(const ShortConvShape& s, const float* x, const float* weight, const float* bias,
                                   const float* dout, const ShortConvGradients& gradients) {
  const std::size_t size = s.B * s.L * s.C;
  std::vector<float> dz(dout, dout + size);
  if (s.silu) {
    ShortConvShape linear = s;
    linear.silu = false;
    std::vector<float> z(size);
    short_conv_reference(linear, x, weight, bias, z.data());
    for (std::size_t i = 0; i < size; ++i) {
      const double gate = sigmoid(z[i]);
      dz[i] = static_cast<float>(dz[i] * (gate + z[i] * gate * (1 - gate)));
    }
  }
  std::vector<double> weight_sum(s.C * s.W, 0.0), bias_sum(s.C, 0.0);
  for (std::size_t i = 0; i < size; ++i) gradients.dx[i] = 0;
  for (std::size_t b = 0; b < s.B; ++b) {
    const std::size_t at = b * s.L * s.C, from_at = b * s.L * s.stride;
    for_each_tap(s, [&](std::size_t t, std::size_t i, std::size_t from) {
      for (std::size_t c = 0; c < s.C; ++c) {
        const float g = dz[at + t * s.C + c];
        gradients.dx[at + from * s.C + c] += weight[c * s.W + i] * g;
        weight_sum[c * s.W + i] += static_cast<double>(g) * x[from_at + from * s.stride + c];
      }
    });
    for (std::size_t t = 0; t < s.L; ++t)
      for (std::size_t c = 0; c < s.C; ++c) bias_sum[c] += dz[at + t * s.C + c];
  }
  for (std::size_t i = 0; i < weight_sum.size(); ++i) gradients.dweight[i] = static_cast<float>(weight_sum[i]);
  if (gradients.dbias)
    for (std::size_t c = 0; c < s.C; ++c) gradients.dbias[c] = static_cast<float>(bias_sum[c]);
}

}  // namespace mneme::kernels
