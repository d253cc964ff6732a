#include "models/sequence_model.h"

#include <gtest/gtest.h>

#include "models/model_testing.h"

namespace mneme::models {
namespace {

using namespace testing;

// Whole models, by block: every mixer of the catalog is in every block, each with the next kind of positions.
class Models : public ::testing::TestWithParam<const char*> {
 protected:
  struct Case {
    std::string name;
    config::RunConfig run;
  };
  static std::vector<Case> cases() {
    std::vector<std::string> mixers = {"attention+mamba", "rnn+attention+s4d", "attention+rwkv7"};
    for (const catalog::MixerEntry& entry : catalog::mixer_catalog()) mixers.push_back(entry.name);
    std::vector<Case> list;
    std::size_t next = 0;
    for (const std::string& mixer : mixers) {
      const std::string positions = kPositions[next++ % std::size(kPositions)], block = GetParam();
      for (const std::string state : {"none", "mlp", "rwkv4_channel_mix"}) {
        if (state == "none" && block == "parallel") continue;
        // Without norms, squares of squares vanish and products of matrices overflow.
        if (block == "plain" && (state == "rwkv4_channel_mix" || mixer == "ids4")) continue;
        list.push_back({mixer + " " + positions + " " + state,
                        tiny_run("block = '" + block + "'\nmixer = '" + mixer + "'\nstate_mixer = '" + state +
                                 "'\npositions = '" + positions + "'\nlayers = 3\n")});
      }
    }
    return list;
  }
  static torch::Tensor tokens() {
    torch::manual_seed(2);
    return torch::randint(0, 16, {2, 8}, torch::kInt32);
  }
};

TEST_P(Models, HaveAsManyParametersAsTheCatalogSays) {
  for (const Case& c : cases()) EXPECT_EQ(measured_parameters(*build_model(c.run)), c.run.parameters()) << c.name;
}

// What only positions without a label would need is left out, and nothing else: values and all gradients.
TEST_P(Models, GiveAskedRowsAsIfAllWereMade) {
  const torch::Tensor rows = torch::tensor({2, 7, 9, 15}, torch::kInt64);
  for (const Case& c : cases()) {
    const auto some = initialised_model(c.run), all = initialised_model(c.run);
    nn::Pass pass = nn::Pass::evaluation();
    const torch::Tensor few = some->hidden_at(tokens(), rows, pass);
    const torch::Tensor chosen = hidden(*all, tokens()).flatten(0, 1).index_select(0, rows);
    EXPECT_TRUE(torch::allclose(few, chosen, 1e-5, 1e-6)) << c.name;
    few.square().sum().backward();
    chosen.square().sum().backward();
    const auto expected = all->named_parameters();
    for (const auto& item : some->named_parameters()) {
      const torch::Tensor &ours = item.value().grad(), &theirs = expected[item.key()].grad();
      ASSERT_EQ(ours.defined(), theirs.defined()) << c.name << ' ' << item.key();
      if (!ours.defined()) continue;
      const double scale = std::max(1.0, theirs.abs().max().item<double>());
      EXPECT_LE((ours - theirs).abs().max().item<double>(), 1e-5 * scale) << c.name << ' ' << item.key();
    }
  }
}

TEST_P(Models, GiveNothingIfNothingIsAsked) {
  const torch::NoGradGuard guard;
  for (const Case& c : cases()) {
    nn::Pass pass = nn::Pass::evaluation();
    const torch::Tensor none = initialised_model(c.run)->hidden_at(tokens(), torch::empty({0}, torch::kInt64), pass);
    EXPECT_EQ(none.sizes(), (std::vector<std::int64_t>{0, 8})) << c.name;
  }
}

TEST_P(Models, AreCausalToTheBit) {
  const torch::NoGradGuard guard;
  for (const Case& c : cases()) {
    const auto model = initialised_model(c.run);
    const torch::Tensor input = tokens(), before = hidden(*model, input);
    ASSERT_TRUE(before.isfinite().all().item<bool>()) << c.name;
    for (std::int64_t t = 0; t < 8; ++t) {
      torch::Tensor changed = input.clone();
      changed.select(1, t).add_(1).remainder_(16);
      const torch::Tensor after = hidden(*model, changed);
      EXPECT_TRUE(torch::equal(before.narrow(1, 0, t), after.narrow(1, 0, t))) << c.name << ", token " << t;
      EXPECT_FALSE(torch::equal(before.select(1, t), after.select(1, t))) << c.name << ", token " << t;
    }
  }
}

// Of numbers of order one. Worst seen: 2.7e-5, gated_deltanet in Mamba's block.
constexpr double kStepTolerance = 1e-4;

TEST_P(Models, StepEqualsForwardWithTheDeclaredState) {
  const torch::NoGradGuard guard;
  for (const Case& c : cases()) {
    const auto model = initialised_model(c.run);
    ASSERT_TRUE(model->has_step()) << c.name;
    const torch::Tensor input = tokens(), whole = hidden(*model, input);
    ModelState state = model->initial_state(2);
    for (std::int64_t t = 0; t < 8; ++t) {
      const torch::Tensor y = model->step(state, input.select(1, t));
      EXPECT_LT((y - whole.select(1, t)).abs().max().item<double>(), kStepTolerance) << c.name << ", token " << t;
    }
    EXPECT_EQ(state.position, 8);
    EXPECT_EQ(state.size(), c.run.state()) << c.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, Models, ::testing::ValuesIn(kBlocks),
                         [](const auto& each) { return std::string(each.param); });

TEST(SequenceModel, HasAsManyParametersAsTheCatalogSaysForEveryHeadAndInput) {
  for (const char* model :
       {"", "tied = false", "tied = false\nhead_bias = true", "head_bias = true", "positions = 'none'",
        "final_norm = 'none'", "final_norm = 'rmsnorm'", "state_mixer = 'glu'", "state_mixer = 'identity'",
        "input = 'linear'", "block = 'plain'\nmixer = 'gru'\ninput = 'raw'",
        "block = 'plain'\nmixer = 'lstm'\nembed_width = 3\npositions = 'learned'",
        "block = 'plain'\nmixer = 'rnn+mamba'\nembed_width = 5\nlayers = 3\nstate_mixer = 'mlp'"}) {
    const config::RunConfig run = tiny_run(model);
    EXPECT_EQ(measured_parameters(*build_model(run)), run.parameters()) << model;
  }
}

TEST(SequenceModel, RawInputIsTheOneHotTokenAndLinearItsMap) {
  const torch::NoGradGuard guard;
  const torch::Tensor tokens = torch::tensor({{3, 0, 15}}, torch::kInt32);
  nn::Pass pass = nn::Pass::evaluation();
  Embeddings raw({.vocab = 16, .width = 16, .input = "raw"}), linear({.vocab = 16, .width = 4, .input = "linear"});
  const torch::Tensor x = raw.forward(tokens, pass);
  EXPECT_TRUE(torch::equal(x.argmax(2), tokens.to(torch::kInt64)));
  EXPECT_EQ(x.sum().item<double>(), 3);
  const auto values = values_of(linear);
  const torch::Tensor expected =
      torch::linear(x, values.at("input_projection.weight"), values.at("input_projection.bias"));
  EXPECT_TRUE(torch::allclose(linear.forward(tokens, pass), expected));
  Embeddings signal({.vocab = 0, .width = 1, .input = "raw"});
  const torch::Tensor s = torch::randn({2, 5});
  EXPECT_TRUE(torch::equal(signal.forward(s, pass), s.unsqueeze(2)));
}

TEST(SequenceModel, TheHeadReadsHiddenStates) {
  const torch::NoGradGuard guard;
  const torch::Tensor tokens = torch::randint(0, 16, {2, 8}, torch::kInt32);
  for (const char* head :
       {"tied = true", "tied = false", "tied = true\nhead_bias = true", "tied = false\nhead_bias = true"}) {
    const auto model = initialised_model(tiny_run(head));
    if (model->output_bias().defined()) model->output_bias().uniform_(1, 2);
    nn::Pass pass = nn::Pass::evaluation();
    torch::Tensor expected = torch::matmul(hidden(*model, tokens), model->output_matrix().t());
    if (std::string(head).find("bias") != std::string::npos) expected = expected + model->output_bias();
    EXPECT_TRUE(torch::allclose(model->logits(tokens, pass), expected, 1e-5, 1e-6)) << head;
    const auto values = values_of(*model);
    EXPECT_EQ(values.contains("lm_head.weight"), std::string(head).find("false") != std::string::npos) << head;
  }
}

TEST(SequenceModel, DropoutActsInTrainingOnlyAndRepeats) {
  for (const std::string block : kBlocks) {
    const auto model =
        initialised_model(tiny_run("embed_dropout = 0.3\nresid_dropout = 0.3\nblock = '" + block + "'\n"));
    const torch::Tensor tokens = torch::randint(0, 16, {2, 8}, torch::kInt32);
    const auto run = [&](nn::Pass pass) { return hidden(*model, tokens, pass); };
    EXPECT_TRUE(torch::equal(run(nn::Pass::training(1, 7, 0)), run(nn::Pass::training(1, 7, 0)))) << block;
    EXPECT_FALSE(torch::equal(run(nn::Pass::training(1, 7, 0)), run(nn::Pass::training(1, 8, 0)))) << block;
    EXPECT_FALSE(torch::equal(run(nn::Pass::training(1, 7, 0)), run(nn::Pass::training(1, 7, 1)))) << block;
    EXPECT_FALSE(torch::equal(run(nn::Pass::training(1, 7, 0)), run(nn::Pass::evaluation()))) << block;
    EXPECT_TRUE(torch::equal(run(nn::Pass::evaluation()), run(nn::Pass::evaluation()))) << block;
  }
}

// The options of the stack were once filled in by position: a dropout became the eps of the last norm.
TEST(SequenceModel, EachDropoutIsDroppedInTrainingAndChangesNothingElse) {
  const torch::NoGradGuard guard;
  const torch::Tensor tokens = torch::randint(0, 16, {2, 8}, torch::kInt32);
  const torch::Tensor expected = hidden(*initialised_model(tiny_run("")), tokens);
  for (const char* option : {"embed_dropout = 0.5", "resid_dropout = 0.5"}) {
    const auto model = initialised_model(tiny_run(option));
    EXPECT_TRUE(torch::equal(hidden(*model, tokens), expected)) << option;
    EXPECT_FALSE(torch::equal(hidden(*model, tokens, nn::Pass::training(1, 0, 0)), expected)) << option;
  }
}

TEST(SequenceModel, TheLastNormHasTheEpsOfTheOthers) {
  const torch::NoGradGuard guard;
  const auto model = initialised_model(tiny_run("state_mixer = 'none'\nlayers = 1\npositions = 'none'"));
  // A stack without a word to say: the last norm reads the embedding.
  for (const auto& item : model->named_parameters())
    if (item.key().find("out_proj") != std::string::npos) item.value().zero_();
  const torch::Tensor tokens = torch::arange(16, torch::kInt32).view({2, 8});
  const torch::Tensor table = model->output_matrix();
  EXPECT_TRUE(
      torch::allclose(hidden(*model, tokens).flatten(0, 1), torch::layer_norm(table, {8}, {}, {}, 1e-5), 1e-5, 1e-6));
}

}  // namespace
}  // namespace mneme::models
