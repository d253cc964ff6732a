#include "kernels/dense/linear.h"

namespace mneme::kernels {

void linear_reference(const LinearShape& s, const float* x, const float* weight, const float* bias, float* out) {
  for (std::size_t t = 0; t < s.T; ++t)
    for (std::size_t o = 0; o < s.out; ++o) {
      double sum = bias ? bias[o] : 0.0;
      for (std::size_t i = 0; i < s.in; ++i) sum += static_cast<double>(weight[o * s.in + i]) * x[t * s.in + i];
      out[t * s.out + o] = static_cast<float>(sum);
    }
}

void linear_backward_reference(const LinearShape& s, const float* x, const float* weight, const float* dout,
                               const LinearGradients& to) {
  if (to.dx)
    for (std::size_t t = 0; t < s.T; ++t)
      for (std::size_t i = 0; i < s.in; ++i) {
        double sum = 0;
        for (std::size_t o = 0; o < s.out; ++o) sum += static_cast<double>(weight[o * s.in + i]) * dout[t * s.out + o];
        to.dx[t * s.in + i] = static_cast<float>(sum);
      }
  for (std::size_t o = 0; o < s.out; ++o) {
    double bias = 0;
    for (std::size_t t = 0; t < s.T; ++t) bias += dout[t * s.out + o];
    if (to.dbias) to.dbias[o] += static_cast<float>(bias);
    if (!to.dweight) continue;
    for (std::size_t i = 0; i < s.in; ++i) {
      double sum = 0;
      for (std::size_t t = 0; t < s.T; ++t) sum += static_cast<double>(dout[t * s.out + o]) * x[t * s.in + i];
      to.dweight[o * s.in + i] += static_cast<float>(sum);
    }
  }
}

}  // namespace mneme::kernels
