#include "models/sequence_model.h"

#include <gtest/gtest.h>

#include "models/initialise.h"

namespace mneme {
namespace {

RunConfig from(const std::string& toml) { return resolve_run(parse_toml(toml, "test")); }

TEST(SequenceModel, HasAsManyParametersAsTheCatalogSays) {
  for (const char* toml : {"", "model.tied = false", "model.positions = 'none'", "model.state_mixer = 'glu'",
                           "model.state_mixer = 'identity'", "model.layers = 3\n[model.attention]\nconv_on = 'qk'",
                           "[model]\nmixer = 'rwkv7'\nlayers = 3", "[model]\nmixer = 'attention+rwkv7'\nlayers = 4"}) {
    const RunConfig run = from(toml);
    std::int64_t count = 0;
    for (const auto& parameter : build_model(run)->parameters()) count += parameter.numel();
    EXPECT_EQ(count, run.parameters()) << toml;
  }
}

std::map<std::string, torch::Tensor> initialised(const RunConfig& run, std::uint64_t seed) {
  const auto model = build_model(run);
  initialise(*model, run.model.text("init"), run.model.integer("layers"), Draw(seed));
  std::map<std::string, torch::Tensor> result;
  for (const auto& item : model->named_parameters()) result[item.key()] = item.value().detach().clone();
  return result;
}

TEST(Initialise, ZoologyHasItsDeviations) {
  const auto values = initialised(from("[model.attention]\nconv_on = 'k'"), 5);
  const auto deviation = [&](const std::string& name) { return values.at(name).std().item<double>(); };
  EXPECT_NEAR(deviation("backbone.embeddings.word_embeddings.weight"), 0.02, 1e-3);
  EXPECT_NEAR(deviation("backbone.layers.0.sequence_mixer.Wqkv.weight"), 0.02, 1e-3);
  // 0.02 / sqrt(2 * layers) with two layers.
  EXPECT_NEAR(deviation("backbone.layers.1.sequence_mixer.out_proj.weight"), 0.01, 1e-3);
  EXPECT_NEAR(deviation("backbone.layers.1.state_mixer.fc2.weight"), 0.01, 1e-3);
  EXPECT_EQ(values.at("backbone.layers.0.sequence_mixer.Wqkv.bias").abs().max().item<double>(), 0);
  EXPECT_EQ(values.at("backbone.ln_f.weight").min().item<double>(), 1);
  // Convolutions keep torch's rule, U(+-1/sqrt(3)), of deviation 1/3.
  EXPECT_NEAR(deviation("backbone.layers.0.sequence_mixer.conv_k.weight"), 1.0 / 3, 0.05);
}

TEST(Initialise, TorchHasItsBounds) {
  const auto values = initialised(from("model.init = 'torch'"), 5);
  EXPECT_NEAR(values.at("backbone.layers.0.sequence_mixer.Wqkv.weight").abs().max().item<double>(), 1.0 / 8, 1e-3);
  EXPECT_GT(values.at("backbone.layers.0.sequence_mixer.Wqkv.bias").abs().max().item<double>(), 0.1);
  EXPECT_NEAR(values.at("backbone.embeddings.word_embeddings.weight").std().item<double>(), 1, 0.05);
}

TEST(Initialise, AParameterDependsOnSeedAndNameOnly) {
  const auto shallow = initialised(from(""), 5), deep = initialised(from("model.layers = 3"), 5), other = initialised(from(""), 6);
  const std::string name = "backbone.layers.0.sequence_mixer.Wqkv.weight";
  EXPECT_TRUE(torch::equal(shallow.at(name), deep.at(name)));
  EXPECT_FALSE(torch::equal(shallow.at(name), other.at(name)));
}

TEST(SequenceModel, DropoutActsInTrainingOnlyAndRepeats) {
  const RunConfig run = from("[model]\nembed_dropout = 0.5\n[model.attention]\ndropout = 0.3\n");
  const auto model = build_model(run);
  const torch::Tensor tokens = torch::randint(0, 8192, {2, 64}, torch::kInt32);
  const auto hidden = [&](Pass pass) { return model->hidden(tokens, pass); };
  EXPECT_TRUE(torch::equal(hidden(Pass::training(1, 7, 0)), hidden(Pass::training(1, 7, 0))));
  EXPECT_FALSE(torch::equal(hidden(Pass::training(1, 7, 0)), hidden(Pass::training(1, 8, 0))));
  EXPECT_FALSE(torch::equal(hidden(Pass::training(1, 7, 0)), hidden(Pass::training(1, 7, 1))));
  EXPECT_FALSE(torch::equal(hidden(Pass::training(1, 7, 0)), hidden(Pass::evaluation())));
  EXPECT_TRUE(torch::equal(hidden(Pass::evaluation()), hidden(Pass::evaluation())));
}

}  // namespace
}  // namespace mneme
