// The wiring of each block, written out again as plain formulas.
#include "models/block.h"

#include <gtest/gtest.h>

#include "models/backbone.h"
#include "models/model_testing.h"

namespace mneme::models {
namespace {

using namespace testing;
using torch::Tensor;

// Sums its past and scales it: simple enough for a formula, and its step has a state.
class Sum : public mixers::Mixer {
 public:
  explicit Sum(double scale) : scale_(scale) {}
  Tensor forward(const Tensor& x, nn::Pass&) override { return scale_ * torch::cumsum(x, 1); }
  bool has_step() const override { return true; }
  mixers::MixerState initial_state(std::int64_t batch) const override { return {{torch::zeros({batch, 4})}}; }
  Tensor step(mixers::MixerState& state, const Tensor& x) override {
    state.tensors[0] = state.tensors[0] + x;
    return scale_ * state.tensors[0];
  }

 private:
  double scale_;
};

constexpr double kMix = 0.7, kFeed = -0.4;

std::shared_ptr<Backbone> stack(const std::string& kind, bool feeds, const BackboneOptions& options,
                                std::int64_t rotated = 0) {
  std::vector<std::shared_ptr<Block>> blocks;
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    BlockParts parts;
    parts.width = 4;
    parts.sequence = std::make_shared<Sum>(kMix);
    if (feeds) parts.state = std::make_shared<Sum>(kFeed);
    parts.layer = layer;
    parts.rotated = rotated;
    blocks.push_back(make_block(kind, parts));
  }
  auto result = std::make_shared<Backbone>(4, blocks, options);
  torch::manual_seed(4);
  const torch::NoGradGuard guard;
  for (auto& parameter : result->parameters()) parameter.uniform_(0.5, 1.5);
  return result;
}

struct Formula {
  std::map<std::string, Tensor> values;

  Tensor norm(const std::string& name, const Tensor& x) const {
    if (values.contains(name + ".bias"))
      return torch::layer_norm(x, {4}, values.at(name + ".weight"), values.at(name + ".bias"), 1e-5);
    return x * torch::rsqrt(x.square().mean(-1, true) + 1e-5) * values.at(name + ".weight");
  }
  static Tensor mix(const Tensor& x) { return kMix * torch::cumsum(x, 1); }
  static Tensor feed(const Tensor& x) { return kFeed * torch::cumsum(x, 1); }

  Tensor layer(const std::string& kind, bool feeds, const std::string& name, Tensor x) const {
    if (kind == "plain") return feeds ? feed(mix(x)) : mix(x);
    const std::string first = name + (kind == "mamba" ? ".norm" : ".norm1"), second = name + ".norm2";
    if (kind == "parallel") return x + mix(norm(first, x)) + feed(norm(second, x));
    if (kind == "postnorm") {
      x = norm(first, x + mix(x));
      return feeds ? norm(second, x + feed(x)) : x;
    }
    x = x + mix(norm(first, x));
    return feeds ? x + feed(norm(second, x)) : x;
  }
};

TEST(Block, IsItsFormula) {
  const torch::NoGradGuard guard;
  torch::manual_seed(1);
  const Tensor x = torch::randn({2, 5, 4});
  for (const std::string kind : kBlocks)
    for (const bool feeds : {true, false})
      for (const std::string last : {"none", "layernorm", "rmsnorm"}) {
        if (kind == "parallel" && !feeds) continue;
        const auto backbone = stack(kind, feeds, {.final_norm = last});
        const Formula formula{values_of(*backbone)};
        Tensor expected = x;
        for (const std::string layer : {"layers.0", "layers.1"}) expected = formula.layer(kind, feeds, layer, expected);
        if (last != "none") expected = formula.norm("ln_f", expected);
        nn::Pass pass = nn::Pass::evaluation();
        Walk walk(pass);
        EXPECT_TRUE(torch::allclose(backbone->forward(x, walk), expected, 1e-5, 1e-5)) << kind << feeds << last;
      }
}

TEST(Block, NamesAreThoseOfTheReferences) {
  const auto names = [](const std::string& kind, bool feeds) {
    const config::RunConfig run = tiny_run("layers = 1\nmixer = 's6'\npositions = 'none'\nblock = '" + kind +
                                           "'\nstate_mixer = '" + (feeds ? "mlp" : "none") + "'\n");
    return values_of(*build_model(run));
  };
  // Zoology's TransformerBlock; Mamba's Block, in Zoology's backbone.
  for (const char* name : {"sequence_mixer.A_log", "state_mixer.fc1.weight", "norm1.bias", "norm2.weight"})
    EXPECT_TRUE(names("zoology", true).contains(std::string("backbone.layers.0.") + name)) << name;
  for (const char* name : {"mixer.A_log", "mlp.fc1.weight", "norm.weight", "norm2.weight"})
    EXPECT_TRUE(names("mamba", true).contains(std::string("backbone.layers.0.") + name)) << name;
  for (const char* name : {"mlp.fc1.weight", "norm2.weight", "norm.bias"})
    EXPECT_FALSE(names("mamba", false).contains(std::string("backbone.layers.0.") + name)) << name;
  EXPECT_TRUE(names("mamba", false).contains("backbone.ln_f.bias"));
  EXPECT_TRUE(names("mamba", false).contains("backbone.embeddings.word_embeddings.weight"));
}

TEST(Block, IdentityIsNotNone) {
  // In Zoology's block the identity adds a normalised residual; without a state mixer nothing is added.
  const torch::NoGradGuard guard;
  const torch::Tensor tokens = torch::randint(0, 16, {1, 8}, torch::kInt32);
  const auto with = initialised_model(tiny_run("state_mixer = 'identity'\n")),
             without = initialised_model(tiny_run("state_mixer = 'none'\n"));
  EXPECT_FALSE(torch::allclose(hidden(*with, tokens), hidden(*without, tokens), 1e-2, 1e-2));
}

TEST(Block, RotationTurnsWhatTheMixerReads) {
  const torch::NoGradGuard guard;
  torch::manual_seed(1);
  const Tensor x = torch::randn({2, 5, 4});
  const auto backbone = stack("plain", false, {.final_norm = "none"}, 4);
  nn::Pass pass = nn::Pass::evaluation();
  Walk walk(pass);
  const Tensor y = backbone->forward(x, walk);

  // theta = 1 and 1/100; channels (0, 2) and (1, 3) are pairs.
  const Tensor angle = torch::outer(torch::arange(5, torch::kFloat32), torch::tensor({1.0F, 0.01F}));
  const auto turn = [&](const Tensor& in) {
    const Tensor a = in.narrow(2, 0, 2), b = in.narrow(2, 2, 2), c = torch::cos(angle), s = torch::sin(angle);
    return torch::cat({a * c - b * s, b * c + a * s}, 2);
  };
  EXPECT_TRUE(torch::allclose(y, Formula::mix(turn(Formula::mix(turn(x)))), 1e-5, 1e-5));

  // Token by token the position comes from the state.
  ModelState state{backbone->initial_states(2), 0};
  for (std::int64_t t = 0; t < 5; ++t, ++state.position) {
    Walk step(pass, state);
    EXPECT_TRUE(torch::allclose(backbone->forward(x.select(1, t), step), y.select(1, t), 1e-5, 1e-5)) << t;
  }
}

// Adding 2^-9 to 1 changes nothing in bfloat16, which has 8 bits: a residual of that type would forget every layer.
class Tiny : public mixers::Mixer {
 public:
  Tensor forward(const Tensor& x, nn::Pass&) override { return torch::full_like(x, 0x1p-9); }
};

TEST(Block, TheMambaResidualIsFloat32WhateverTheLayersAre) {
  const torch::NoGradGuard guard;
  for (const std::string kind : {"mamba", "zoology"}) {
    std::vector<std::shared_ptr<Block>> blocks;
    for (std::int64_t layer = 0; layer < 65; ++layer) {
      BlockParts parts;
      parts.width = 4;
      parts.sequence = std::make_shared<Tiny>();
      blocks.push_back(make_block(kind, parts));
    }
    Backbone backbone(4, blocks, {.final_norm = "none"});
    backbone.to(torch::kBFloat16);
    nn::Pass pass = nn::Pass::evaluation();
    Walk walk(pass);
    const Tensor y = backbone.forward(torch::ones({1, 1, 4}, torch::kBFloat16), walk);
    EXPECT_EQ(y.scalar_type(), torch::kBFloat16);
    EXPECT_NEAR(y.to(torch::kFloat32).max().item<double>(), kind == "mamba" ? 1.125 : 1.0, 0.01) << kind;
  }
}

// Both say whether positions meet: the catalog counts useful work by it, the stack leaves positions out by it.
TEST(StateMixers, ArePointwiseWhereTheCatalogKnowsNoOrder) {
  for (const catalog::MixerEntry& entry : catalog::state_mixer_catalog()) {
    const config::RunConfig run = tiny_run("state_mixer = '" + entry.name + "'");
    const mixers::MixerPointer mixer = mixers::build_mixer(entry, run.state_context(0), run.state_mixer.options);
    EXPECT_EQ(mixer->is_pointwise(), !entry.knows_order(run.state_mixer.options)) << entry.name;
  }
}

}  // namespace
}  // namespace mneme::models
