#include "train/optimiser.h"

#include <gtest/gtest.h>

#include "config/run_config.h"

namespace mneme::train {
namespace {

Options train_options(const std::string& toml) { return config::resolve_run(parse_toml(toml, "test")).train; }

TEST(LearningRate, WarmsUpAndDecays) {
  const Options cosine = train_options("[train]\nlr = 1.0\nsteps = 100\nwarmup = 0.1\n");
  EXPECT_DOUBLE_EQ(learning_rate(cosine, 0), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(cosine, 9), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate(cosine, 10), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate(cosine, 55), 0.5);
  EXPECT_GT(learning_rate(cosine, 99), 0.0);
  EXPECT_LT(learning_rate(cosine, 99), 1e-3);
  const Options linear = train_options("[train]\nlr = 1.0\nsteps = 100\nwarmup = 0.0\nschedule = 'linear'\n");
  EXPECT_DOUBLE_EQ(learning_rate(linear, 0), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate(linear, 75), 0.25);
  const Options constant = train_options("[train]\nlr = 1.0\nsteps = 100\nschedule = 'constant'\n");
  EXPECT_DOUBLE_EQ(learning_rate(constant, 99), 1.0);
}

struct TwoParameters : torch::nn::Module {
  TwoParameters() {
    matrix = register_parameter("matrix", torch::ones({2, 2}));
    vector = register_parameter("vector", torch::ones({3}));
  }
  torch::Tensor matrix, vector;
};

TEST(FlatParameters, AreViewsOfOneBuffer) {
  TwoParameters model;
  FlatParameters flat(model);
  EXPECT_EQ(flat.size(), 7);
  flat.values.fill_(2);
  EXPECT_EQ(model.matrix.sum().item<float>(), 8);
  (model.matrix.sum() + 3 * model.vector.sum()).backward();
  EXPECT_EQ(flat.gradients.sum().item<float>(), 4 + 9);
  const std::string before = flat.hash();
  flat.values[6] += 1e-7 * 4;
  EXPECT_NE(flat.hash(), before);
}

TEST(Optimiser, ClipsTheGlobalNormAndSparesVectorsFromDecay) {
  TwoParameters model;
  FlatParameters flat(model);
  const Options train = train_options(
      "[train]\nlr = 0.1\nsteps = 10\nwarmup = 0.0\nweight_decay = 0.5\ndecay_exempt = 'vectors'\nclip = 1.0\n");
  Optimiser optimiser(flat, train);
  flat.gradients.zero_();
  flat.gradients[0] = 3;
  flat.gradients[4] = 4;
  EXPECT_DOUBLE_EQ(optimiser.update(0), 5.0);
  EXPECT_NEAR(optimiser.first_moment[0].item<double>(), 0.1 * 3.0 / 5, 1e-7);
  EXPECT_NEAR(model.matrix[1][1].item<double>(), 1 - 0.1 * 0.5, 1e-6);  // decay alone
  EXPECT_EQ(model.vector[2].item<double>(), 1);                         // nothing at all
}

}  // namespace
}  // namespace mneme::train
