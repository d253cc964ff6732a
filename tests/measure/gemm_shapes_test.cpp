#include "measure/gemm_shapes.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "measure/sgemm.h"
#include "models/model_testing.h"
#include "ops/torch.h"
#include "train/trainer.h"

namespace mneme::measure {
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
    const config::RunConfig run =
        config::resolve_run(parse_toml("[task]\nlength = 16\npairs = 2\nvocab = 64\n[train]\nbatch = 4\n[model]\n"
                                       "layers = 1\n" +
                                           std::string(model),
                                       "test"));
    train::Trainer trainer(run);
    double flops = 0;
    for (const GemmUse& use : gemms_of([&] { trainer.step(); })) flops += use.flops;
    const double useful = 3 * 4 * run.forward_flops_per_example();
    EXPECT_GT(flops, 0.6 * useful) << model;
    EXPECT_LT(flops, 1.01 * useful) << model;
  }
}

double flops_of(const std::function<void()>& work) {
  double flops = 0;
  for (const GemmUse& use : gemms_of(work)) flops += use.flops;
  return flops;
}

// What the catalog says that a position needs for its own output alone is what is left out where it has no label.
TEST(GemmShapes, OfAskedPositionsAreLessByWhatTheCatalogSays) {
  const torch::Tensor input = torch::randint(0, 16, {2, 8}, torch::kInt32),
                      rows = torch::tensor({2, 7, 9}, torch::kInt64);
  int mixers = 0;
  for (const catalog::MixerEntry& entry : catalog::mixer_catalog()) {
    const config::RunConfig run = testing::tiny_run("layers = 1\nstate_mixer = 'none'\nmixer = '" + entry.name + "'\n");
    const auto model = testing::initialised_model(run);
    nn::Pass pass = nn::Pass::evaluation();
    const double all = flops_of([&] { model->hidden(input, pass); }),
                 labelled = flops_of([&] { model->hidden_at(input, rows, pass); });
    double expected = 0;
    if (entry.output_flops) expected = entry.output_flops(run.context(0), run.mixer(0).options);
    // Scores, and reading a state, are no products of linear layers.
    const std::map<std::string, double> inside = {{"attention", 2.0 * 8 * (8 + 1)},
                                                  {"mamba2", 2.0 * 16 * 128},
                                                  {"linear_attention", 2.0 * 8 * 2},
                                                  {"retnet", 2.0 * 8 * 4}};
    if (inside.contains(entry.name)) expected -= inside.at(entry.name);
    // Forward and twice backward, of 16 positions.
    EXPECT_EQ(all - labelled, 3 * (16 - 3) * expected) << entry.name;
    mixers += entry.output_flops != nullptr;
  }
  EXPECT_GE(mixers, 15);
}

TEST(Sgemm, MeasuresOneShapeAndSeveral) {
  const GemmShape shape{8, 8, 8, true, true};
  const std::vector<GemmUse> uses = {{shape, 100.0}, {{4, 4, 4}, 50.0}};
  EXPECT_GT(sgemm_rate(shape, 0.0), 0);
  EXPECT_GT(sgemm_rate(uses, 0.0), 0);
}

}  // namespace
}  // namespace mneme::measure
