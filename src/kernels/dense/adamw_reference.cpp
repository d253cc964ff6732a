#include <cmath>

#include "kernels/dense/adamw.h"

namespace mneme::kernels {

void adamw_reference(const AdamWArguments& a) {
  const double correction1 = 1.0 - std::pow(a.beta1, static_cast<double>(a.step));
  const double correction2 = std::sqrt(1.0 - std::pow(a.beta2, static_cast<double>(a.step)));
  AdamWNorms norms;
  for (std::size_t i = 0; i < a.count; ++i) {
    const double before = a.parameters[i];
    const double g = a.grad_scale * a.gradients[i];
    const double m = a.beta1 * a.first_moment[i] + (1.0 - a.beta1) * g;
    const double v = a.beta2 * a.second_moment[i] + (1.0 - a.beta2) * g * g;
    const double p = a.parameters[i] * (1.0 - a.lr * a.decay);
    a.first_moment[i] = static_cast<float>(m);
    a.second_moment[i] = static_cast<float>(v);
    a.parameters[i] = static_cast<float>(p - a.lr / correction1 * m / (std::sqrt(v) / correction2 + a.eps));
    norms.weights += before * before;
    norms.updates += (a.parameters[i] - before) * (a.parameters[i] - before);
  }
  if (a.norms) *a.norms = norms;
}

double sum_of_squares_reference(const float* values, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += static_cast<double>(values[i]) * values[i];
  return sum;
}

}  // namespace mneme::kernels
