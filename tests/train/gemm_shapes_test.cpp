#include "train/gemm_shapes.h"

#include <gtest/gtest.h>

#include "mixers/torch.h"
#include "train/sgemm.h"
#include "train/trainer.h"

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

// Most of the useful work that the catalog counts is in products that are seen, and none of them is seen twice.
TEST(GemmShapes, OfAModelAreItsUsefulWork) {
  for (const char* model : {"mixer = 'attention'", "mixer = 'attention'\nwidth = 512", "mixer = 'rnn'"}) {
    const RunConfig run =
        resolve_run(parse_toml("[task]\nlength = 16\npairs = 2\nvocab = 64\n[train]\nbatch = 4\n[model]\n"
                               "layers = 1\n" +
                                   std::string(model),
                               "test"));
    Trainer trainer(run);
    double flops = 0;
    for (const GemmUse& use : gemms_of([&] { trainer.step(); })) flops += use.flops;
    const double useful = 3 * 4 * run.forward_flops_per_example();
    EXPECT_GT(flops, 0.6 * useful) << model;
    EXPECT_LT(flops, 1.01 * useful) << model;
  }
}

TEST(Sgemm, MeasuresOneShapeAndSeveral) {
  const GemmShape shape{8, 8, 8, true, true};
  const std::vector<GemmUse> uses = {{shape, 100.0}, {{4, 4, 4}, 50.0}};
  EXPECT_GT(sgemm_rate(shape, 0.0), 0);
  EXPECT_GT(sgemm_rate(uses, 0.0), 0);
}

}  // namespace
}  // namespace mneme
