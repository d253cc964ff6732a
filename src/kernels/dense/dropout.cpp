#include "kernels/dense/dropout.h"

#include <cmath>

#include "core/random.h"

namespace mneme::kernels {

void dropout_mask(std::uint64_t key, std::uint64_t item, double p, float* mask, std::size_t count) {
  const auto dropped = static_cast<std::uint32_t>(std::lround(p * 65536.0));
  const auto kept = static_cast<float>(1.0 / (1.0 - p));
  Random random(key, item);
  for (std::size_t i = 0; i < count; i += 2) {
    const std::uint32_t bits = random.bits();
    mask[i] = (bits & 0xFFFFU) < dropped ? 0.0F : kept;
    if (i + 1 < count) mask[i + 1] = (bits >> 16) < dropped ? 0.0F : kept;
  }
}

}  // namespace mneme::kernels
