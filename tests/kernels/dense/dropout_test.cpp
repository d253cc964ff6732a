#include "kernels/dense/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace mneme::kernels {
namespace {

std::vector<float> mask(std::uint64_t key, std::uint64_t item, double p, std::size_t count) {
  std::vector<float> values(count, -1.0F);
  dropout_mask(key, item, p, values.data(), count);
  return values;
}

TEST(KernelsDropout, KeepsTheRightShareAtTheRightScale) {
  constexpr std::size_t kCount = 200000;
  for (const double p : {0.1, 0.5, 0.65}) {
    double kept = 0;
    for (const float value : mask(1, 2, p, kCount)) {
      ASSERT_TRUE(value == 0.0F || value == static_cast<float>(1 / (1 - p)));
      kept += value != 0.0F;
    }
    // Five standard deviations of a binomial share.
    EXPECT_NEAR(kept / kCount, 1 - p, 5 * std::sqrt(p * (1 - p) / kCount)) << p;
  }
}

TEST(KernelsDropout, IsAFunctionOfKeyAndItem) {
  const auto whole = mask(3, 4, 0.3, 1001);
  auto front = mask(3, 4, 0.3, 500);
  EXPECT_TRUE(std::equal(front.begin(), front.end(), whole.begin()));
  EXPECT_NE(mask(3, 5, 0.3, 1001), whole);
  EXPECT_NE(mask(4, 4, 0.3, 1001), whole);
}

}  // namespace
}  // namespace mneme::kernels
