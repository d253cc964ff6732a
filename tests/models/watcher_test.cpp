#include "models/watcher.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/model_testing.h"

namespace mneme::models {
namespace {

using namespace testing;

torch::Tensor tokens() {
  torch::manual_seed(4);
  return torch::randint(0, 16, {3, 8}, torch::kInt32);
}

// Keeps what it sees and, at one site, puts something else in its place.
class Recorder : public Watcher {
 public:
  torch::Tensor visit(const Site& site, const torch::Tensor& x) override {
    seen.emplace_back(site, x);
    return replacement.defined() && site == at ? replacement : x;
  }
  const torch::Tensor& value(const Site& site) const {
    for (const auto& [where, x] : seen)
      if (where == site) return x;
    throw std::out_of_range("a site that was not visited");
  }

  std::vector<std::pair<Site, torch::Tensor>> seen;
  Site at;
  torch::Tensor replacement;
};

torch::Tensor watched(SequenceModel& model, const torch::Tensor& input, Watcher& watcher) {
  nn::Pass pass = nn::Pass::evaluation();
  return model.hidden(input, pass, &watcher);
}

// Sums are made before the norm instead of inside it. Worst seen: below 5e-7.
constexpr double kTolerance = 2e-6;

TEST(Watcher, SeesEverySiteOfEveryBlockInOrderAndChangesNothing) {
  const torch::NoGradGuard guard;
  double worst = 0;
  for (const std::string block : kBlocks)
    for (const std::string state : {"none", "mlp"}) {
      if (block == "parallel" && state == "none") continue;
      const auto run = tiny_run("block = '" + block + "'\nstate_mixer = '" + state + "'\nmixer = 'gru'\nlayers = 2\n");
      const auto model = initialised_model(run);
      Recorder recorder;
      const torch::Tensor plain = hidden(*model, tokens()), seen = watched(*model, tokens(), recorder);
      worst = std::max(worst, (plain - seen).abs().max().item<double>());
      std::vector<Site> expected;
      for (std::int64_t layer : {0, 1}) {
        for (Place place : {Place::block_input, Place::mixer_input, Place::mixer_output})
          expected.push_back({layer, place});
        if (state == "mlp")
          for (Place place : {Place::mlp_input, Place::mlp_output}) expected.push_back({layer, place});
      }
      expected.push_back({1, Place::block_output});
      ASSERT_EQ(recorder.seen.size(), expected.size()) << block;
      for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(recorder.seen[i].first, expected[i]) << block;
      for (const auto& [site, x] : recorder.seen) EXPECT_EQ(x.sizes(), (std::vector<std::int64_t>{3, 8, 8})) << block;
    }
  RecordProperty("worst", fmt::format("{:.2g}", worst));
  EXPECT_LE(worst, kTolerance);
}

// In a stack with a residual stream the input of a layer and its branches add up to the input of the next.
TEST(Watcher, TheStreamIsTheSumOfItsBranches) {
  const torch::NoGradGuard guard;
  for (const std::string block : {"zoology", "mamba", "parallel"}) {
    const auto model =
        initialised_model(tiny_run("block = '" + block + "'\nstate_mixer = 'mlp'\nmixer = 'gru'\nlayers = 2\n"));
    Recorder recorder;
    watched(*model, tokens(), recorder);
    const torch::Tensor sum = recorder.value({0, Place::block_input}) + recorder.value({0, Place::mixer_output}) +
                              recorder.value({0, Place::mlp_output});
    EXPECT_LE((sum - recorder.value({1, Place::block_input})).abs().max().item<double>(), kTolerance) << block;
  }
}

// What is put at a site is what the model goes on with: with everything of another input put there, it gives that
// input's output.
TEST(Watcher, TheModelGoesOnWithWhatIsPutInPlace) {
  const torch::NoGradGuard guard;
  for (const std::string block : kBlocks) {
    const auto model =
        initialised_model(tiny_run("block = '" + block + "'\nstate_mixer = 'mlp'\nmixer = 'attention'\nlayers = 2\n"));
    const torch::Tensor other = (tokens() + 3).remainder(16);
    Recorder there;
    const torch::Tensor expected = watched(*model, other, there);
    for (const Site site : {Site{0, Place::block_input}, Site{1, Place::block_input}, Site{1, Place::block_output}}) {
      Recorder recorder;
      recorder.at = site;
      recorder.replacement = there.value(site);
      EXPECT_LE((watched(*model, tokens(), recorder) - expected).abs().max().item<double>(), kTolerance) << block;
    }
    // A branch alone does not carry the residual stream, but it has its effect.
    Recorder branch;
    branch.at = {1, Place::mlp_output};
    branch.replacement = there.value(branch.at) + 1.0;
    EXPECT_GT((watched(*model, tokens(), branch) - hidden(*model, tokens())).abs().max().item<double>(), 1e-3) << block;
  }
}

// Windows forget what is older than they are long; what the recurrence carries does not.
TEST(Watcher, WindowsAreTheStatesThatForgetOldTokens) {
  const torch::NoGradGuard guard;
  std::vector<std::string> mixers;
  for (const catalog::MixerEntry& entry : catalog::mixer_catalog()) mixers.push_back("mixer = '" + entry.name + "'");
  for (const char* more :
       {"mixer = 'attention'\nattention = {conv_on = 'qk'}", "mixer = 'base_conv'\nbase_conv = {kernel_size = -1}",
        "mixer = 'gla'\ngla = {use_short_conv = true}", "mixer = 'gru'\nstate_mixer = 'rwkv4_channel_mix'"})
    mixers.push_back(more);
  std::int64_t windows = 0;
  for (const std::string& mixer : mixers) {
    const auto run = run_from("[task]\nlength = 128\npairs = 2\nvocab = 256\n[model]\nwidth = 8\nlayers = 1\n" + mixer);
    const auto model = initialised_model(run);
    const auto states_after = [&](std::int64_t same) {
      ModelState state = model->initial_state(2);
      torch::manual_seed(3);
      const torch::Tensor tail = torch::randint(0, 256, {same}, torch::kInt32);
      model->step(state, torch::tensor({5, 9}, torch::kInt32));  // where the two sequences differ
      for (std::int64_t t = 0; t < same; ++t) model->step(state, tail[t].expand({2}));
      return state;
    };
    const ModelState soon = states_after(1), late = states_after(100);
    for (std::size_t i = 0; i < soon.mixers.size(); ++i)
      for (std::size_t j = 0; j < soon.mixers[i].tensors.size(); ++j) {
        const auto differs = [&](const ModelState& state) {
          return !torch::equal(state.mixers[i].tensors[j][0], state.mixers[i].tensors[j][1]);
        };
        if (model->mixers()[i].mixer->is_window(j)) {
          ++windows;
          EXPECT_FALSE(differs(late)) << mixer << ", tensor " << j;
        } else {
          EXPECT_TRUE(differs(soon)) << mixer << ", tensor " << j;
        }
      }
  }
  EXPECT_GE(windows, 20);
}

}  // namespace
}  // namespace mneme::models
