#include <cmath>
#include <limits>

#include "kernels/cross_entropy.h"

namespace mneme::kernels {

void cross_entropy_reference(const CrossEntropyArguments& a) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t r = 0; r < a.rows; ++r) {
    float* z = a.logits + r * a.classes;
    std::size_t best = 0;
    bool finite = true;
    for (std::size_t v = 0; v < a.classes; ++v) {
      if (z[v] > z[best]) best = v;
      if (std::isnan(z[v])) finite = false;
    }
    const float maximum = z[best];
    if (!finite || std::isinf(maximum)) {
      a.losses[r] = kNaN;
      a.predictions[r] = -1;
      if (a.gradient)
        for (std::size_t v = 0; v < a.classes; ++v) z[v] = kNaN;
      continue;
    }
    double sum = 0;
    for (std::size_t v = 0; v < a.classes; ++v) sum += std::exp(static_cast<double>(z[v]) - maximum);
    const auto label = static_cast<std::size_t>(a.labels[r]);
    a.losses[r] = static_cast<float>(std::log(sum) + maximum - z[label]);
    a.predictions[r] = static_cast<std::int32_t>(best);
    if (!a.gradient) continue;
    for (std::size_t v = 0; v < a.classes; ++v) {
      const double probability = std::exp(static_cast<double>(z[v]) - maximum) / sum;
      z[v] = static_cast<float>(a.scale * (probability - (v == label ? 1.0 : 0.0)));
    }
  }
}

}  // namespace mneme::kernels
