#include "train/gemm_shapes.h"

#include <gtest/gtest.h>

#include "mixers/torch.h"
#include "train/sgemm.h"

namespace mneme {
namespace {

TEST(GemmShapes, AreThoseOfTheWorkMostWorkFirst) {
  const torch::Tensor x = torch::ones({2, 5, 3}), w = torch::ones({7, 3}), b = torch::ones({7});
  const std::vector<GemmUse> uses = gemms_of([&] {
    torch::linear(x, w, b);
    torch::linear(x, w, b);
    torch::bmm(x, x.transpose(1, 2));
  });
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].shape, (GemmShape{10, 3, 7, false, true}));
  EXPECT_EQ(uses[0].flops, 2 * 2.0 * 10 * 3 * 7);
  EXPECT_EQ(uses[1].shape, (GemmShape{5, 3, 5, false, true}));
  EXPECT_EQ(uses[1].flops, 2 * 2.0 * 5 * 3 * 5) << "both matrices of the batch";
}

TEST(GemmShapes, OfNoMultiplicationAreNone) {
  EXPECT_TRUE(gemms_of([] { torch::ones({2, 2}).add_(1); }).empty());
}

TEST(Sgemm, MeasuresOneShapeAndSeveral) {
  const GemmShape shape{8, 8, 8, true, true};
  const std::vector<GemmUse> uses = {{shape, 100.0}, {{4, 4, 4}, 50.0}};
  EXPECT_GT(sgemm_rate(shape, 0.0), 0);
  EXPECT_GT(sgemm_rate(uses, 0.0), 0);
}

}  // namespace
}  // namespace mneme
