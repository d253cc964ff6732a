#include "nn/rotary.h"

#include <gtest/gtest.h>

namespace mneme::models {
namespace {

// Token by token, the positions that are held do not grow, and the bits are those of a whole sequence.
TEST(Rotary, AMillionPositionsNeedNoMoreThanThousand) {
  constexpr std::int64_t L = 5000, d = 8;
  const torch::Tensor x = torch::randn({1, 2, L, d});
  nn::Rotary whole(d, 10000.0), stepped(d, 10000.0);
  const torch::Tensor all = whole.apply(x);
  std::int64_t most = 0;
  for (std::int64_t t = 0; t < L; ++t) {
    ASSERT_TRUE(torch::equal(stepped.apply(x.narrow(2, t, 1), t), all.narrow(2, t, 1))) << t;
    most = std::max(most, stepped.held());
  }
  EXPECT_LE(most, 1024);
  const torch::Tensor token = x.narrow(2, 0, 1);
  const torch::Tensor far = stepped.apply(token, 1'000'000);
  EXPECT_LE(stepped.held(), 1024);
  // Channel 0 turns by one radian a position.
  const double a = token[0][0][0][0].item<float>(), b = token[0][0][0][d / 2].item<float>();
  EXPECT_NEAR(far[0][0][0][0].item<float>(), a * std::cos(1e6) - b * std::sin(1e6), 1e-5);
  // Back at the start, as after a long evaluation.
  EXPECT_TRUE(torch::equal(stepped.apply(x), all));
}

}  // namespace
}  // namespace mneme::models
