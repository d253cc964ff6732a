#include "models/initialise.h"

#include <gtest/gtest.h>

#include "models/model_testing.h"

namespace mneme::models {
namespace {

using namespace testing;

std::map<std::string, torch::Tensor> drawn(const std::string& toml, std::uint64_t seed = 5) {
  return values_of(*initialised_model(run_from(toml), seed));
}

double deviation(const torch::Tensor& x) { return x.std().item<double>(); }
double largest(const torch::Tensor& x) { return x.abs().max().item<double>(); }

const std::string kMixer = "backbone.layers.0.sequence_mixer.", kState = "backbone.layers.0.state_mixer.";
const std::string kTable = "backbone.embeddings.word_embeddings.weight";

TEST(Initialise, ZoologyHasItsDeviations) {
  const auto values = drawn("[model.attention]\nconv_on = 'k'");
  EXPECT_NEAR(deviation(values.at(kTable)), 0.02, 1e-3);
  EXPECT_NEAR(deviation(values.at(kMixer + "Wqkv.weight")), 0.02, 1e-3);
  // 0.02 / sqrt(2 * layers) with two layers.
  EXPECT_NEAR(deviation(values.at(kMixer + "out_proj.weight")), 0.01, 1e-3);
  EXPECT_NEAR(deviation(values.at(kState + "fc2.weight")), 0.01, 1e-3);
  EXPECT_EQ(largest(values.at(kMixer + "Wqkv.bias")), 0);
  EXPECT_EQ(values.at("backbone.ln_f.weight").min().item<double>(), 1);
  // Convolutions keep torch's rule, U(+-1/sqrt(3)), of deviation 1/3.
  EXPECT_NEAR(deviation(values.at(kMixer + "conv_k.weight")), 1.0 / 3, 0.05);
}

TEST(Initialise, NeoxIsZoologyWithoutSmallerOutputs) {
  const auto zoology = drawn(""), neox = drawn("model.init = 'neox'");
  for (const auto& [name, value] : neox) {
    const bool output = name.find("out_proj.weight") != name.npos || name.find("fc2.weight") != name.npos;
    EXPECT_EQ(torch::equal(value, zoology.at(name)), !output) << name;
    if (output) {
      EXPECT_NEAR(deviation(value), 0.02, 1e-3) << name;
    }
  }
}

TEST(Initialise, TorchHasItsBounds) {
  const auto values = drawn("model.init = 'torch'");
  EXPECT_NEAR(largest(values.at(kMixer + "Wqkv.weight")), 1.0 / 8, 1e-3);
  EXPECT_NEAR(deviation(values.at(kMixer + "Wqkv.weight")), 1.0 / 8 / std::sqrt(3.0), 2e-3);
  EXPECT_GT(largest(values.at(kMixer + "Wqkv.bias")), 0.1);
  EXPECT_NEAR(largest(values.at(kState + "fc2.weight")), 1.0 / 16, 1e-3);
  EXPECT_NEAR(deviation(values.at(kTable)), 1, 0.05);
}

TEST(Initialise, MambaScalesOutputsByTheNumberOfBranches) {
  const auto alone = drawn("[model]\nmixer = 'mamba'\nblock = 'mamba'\nlayers = 4\n");
  const std::string mixer = "backbone.layers.0.mixer.";
  EXPECT_NEAR(largest(alone.at(mixer + "in_proj.weight")), 1.0 / 8, 1e-3);
  // in = 128 inner channels; four layers of one branch.
  EXPECT_NEAR(largest(alone.at(mixer + "out_proj.weight")), 1.0 / std::sqrt(128.0) / 2, 1e-3);
  EXPECT_NEAR(deviation(alone.at(kTable)), 0.02, 1e-3);
  // The step sizes stay: softplus(bias) from 0.001 to 0.1.
  const torch::Tensor dt = torch::softplus(alone.at(mixer + "dt_proj.bias"));
  EXPECT_GT(dt.min().item<double>(), 9e-4);
  EXPECT_LT(dt.max().item<double>(), 0.11);

  const auto fed = drawn("[model]\nmixer = 'mamba'\nblock = 'mamba'\nstate_mixer = 'mlp'\nlayers = 2\n");
  EXPECT_NEAR(largest(fed.at(mixer + "out_proj.weight")), 1.0 / std::sqrt(128.0) / 2, 1e-3);
  EXPECT_NEAR(largest(fed.at("backbone.layers.0.mlp.fc2.weight")), 1.0 / 16 / 2, 1e-3);
  EXPECT_EQ(largest(fed.at("backbone.layers.0.mlp.fc1.bias")), 0);
}

TEST(Initialise, OwnIsWhatTheReferenceOfTheMixerDoes) {
  const auto attention = drawn("model.init = 'own'"), torch_like = drawn("model.init = 'torch'");
  for (const auto& [name, value] : attention)
    EXPECT_EQ(torch::equal(value, torch_like.at(name)), name.find("embeddings") == name.npos) << name;
  EXPECT_NEAR(deviation(attention.at(kTable)), 0.02, 1e-3);

  const auto rwkv = drawn("[model]\nmixer = 'rwkv7'\ninit = 'own'\n");
  const auto square = [&](const char* name) {
    const torch::Tensor w = rwkv.at(kMixer + name);
    return torch::mm(w, w.t());
  };
  EXPECT_TRUE(torch::allclose(square("r_proj.weight"), torch::eye(64), 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(square("k_proj.weight"), 0.01 * torch::eye(64), 1e-4, 1e-5));
  EXPECT_EQ(largest(rwkv.at(kMixer + "o_proj.weight")), 0);
  const auto old = drawn("[model]\nmixer = 'rwkv4'\nstate_mixer = 'rwkv4_channel_mix'\ninit = 'own'\n");
  EXPECT_EQ(largest(old.at(kMixer + "key.weight")), 0);
  EXPECT_EQ(largest(old.at(kState + "value.weight")), 0);
  EXPECT_GT(largest(old.at(kState + "key.weight")), 0);
}

TEST(Initialise, AParameterDependsOnSeedAndNameOnly) {
  for (const std::string scheme : {"zoology", "neox", "torch", "mamba", "own"}) {
    const std::string init = "model.init = '" + scheme + "'\n";
    const auto shallow = drawn(init), again = drawn(init), deep = drawn(init + "model.layers = 3\n"),
               other = drawn(init, 6);
    const std::string name = kMixer + "Wqkv.weight";
    EXPECT_TRUE(torch::equal(shallow.at(name), deep.at(name))) << scheme;
    EXPECT_FALSE(torch::equal(shallow.at(name), other.at(name))) << scheme;
    for (const auto& [key, value] : shallow) EXPECT_TRUE(torch::equal(value, again.at(key))) << scheme << " " << key;
  }
}

TEST(Initialise, EveryParameterOfEveryMixerGetsAValue) {
  for (const catalog::MixerEntry& entry : catalog::mixer_catalog())
    for (const std::string scheme : {"zoology", "neox", "torch", "mamba", "own"}) {
      const config::RunConfig run = tiny_run("mixer = '" + entry.name + "'\ninit = '" + scheme + "'\n");
      const auto model = build_model(run);
      const torch::NoGradGuard guard;
      // A value that construction left behind would come from torch's own generator, and not repeat.
      for (auto& parameter : model->parameters())
        if (parameter.dim() > 1) parameter.fill_(1e30);
      initialise(*model, run, nn::Draw(1));
      for (const auto& [name, value] : values_of(*model)) EXPECT_LT(largest(value), 1e6) << entry.name << " " << name;
    }
}

}  // namespace
}  // namespace mneme::models
