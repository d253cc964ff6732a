// Every option of the model trains, and a run with random positions still resumes to the bit.
#include <gtest/gtest.h>

#include "support/temporary_directory.h"
#include "train/trainer.h"

namespace mneme::train {
namespace {

config::RunConfig tiny(const std::string& model, const std::string& train = "") {
  return config::resolve_run(
      parse_toml("[task]\nlength = 8\npairs = 1\nvocab = 16\n[model]\nwidth = 16\n" + model +
                     "[train]\nbatch = 16\nsteps = 60\nlr = 1e-2\neval_examples = 20\ntest_examples = 20\n" + train,
                 "test"));
}

// A model that knows no more than which half of the vocabulary is asked has three quarters of the loss of one that
// knows nothing.
void expect_learns(const std::string& model) {
  const config::RunConfig run = tiny(model);
  Trainer trainer(run);
  const double first = trainer.step().loss;
  double last = 0;
  for (int i = 1; i < 60; ++i) {
    const double loss = trainer.step().loss;
    if (i >= 50) last += loss / 10;
  }
  EXPECT_LT(last, 0.85 * first) << model;
}

TEST(ModelOptions, EveryBlockTrains) {
  for (const std::string block : {"zoology", "mamba", "postnorm", "plain", "parallel"})
    for (const std::string mixer : {"attention", "lstm", "mamba"})
      expect_learns("tied = false\nblock = '" + block + "'\nmixer = '" + mixer + "'\n");
}

TEST(ModelOptions, EveryKindOfPositionsTrains) {
  for (const std::string positions : {"none", "learned", "sinusoidal", "relative", "rope"})
    for (const std::string mixer : {"attention", "mamba"})
      expect_learns("positions = '" + positions + "'\nmixer = '" + mixer + "'\n");
}

TEST(ModelOptions, EveryInitialisationTrains) {
  for (const std::string init : {"zoology", "torch", "mamba", "neox", "own"})
    for (const std::string mixer : {"attention", "rwkv7"})
      expect_learns("init = '" + init + "'\nmixer = '" + mixer + "'\n");
}

TEST(ModelOptions, EveryInputHeadAndNormTrains) {
  for (const std::string model :
       {"state_mixer = 'none'\n", "final_norm = 'rmsnorm'\n", "final_norm = 'none'\n", "head_bias = true\n",
        "tied = false\nhead_bias = true\n", "input = 'linear'\n", "block = 'plain'\nmixer = 'gru'\ninput = 'raw'\n",
        "block = 'plain'\nmixer = 'lstm'\nembed_width = 6\nhead_bias = true\n", "mixer = 'attention+mamba'\n"})
    expect_learns(model);
}

struct Listener : TrainObserver {
  std::vector<Json> metrics;
  std::int64_t stop_after = -1, step = 0;
  void on_step(const Progress& progress) override { step = progress.step; }
  void on_metric(std::int64_t at, const Json& values) override { metrics.push_back({at, values}); }
  bool wants_checkpoint() override { return false; }
  void on_checkpoint(std::int64_t, double) override {}
  bool wants_stop() override { return step == stop_after; }
};

TEST(ModelOptions, ShiftedPositionsResumeToTheBit) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = tiny(
      "block = 'postnorm'\npositions = 'relative'\nmixer = 'attention+rnn'\ninit = 'own'\ntied = false\nhead_bias = "
      "true\n"
      "embed_dropout = 0.1\nresid_dropout = 0.1\n",
      "micro_batch = 5\neval_every = 20\n");
  Listener whole;
  const TrainResult expected = Trainer(run).train(directory / "whole", whole);
  for (const std::int64_t stop : {1, 20, 33}) {
    Listener before, after;
    before.stop_after = stop;
    EXPECT_EQ(Trainer(run).train(directory / "cut", before).outcome, Outcome::interrupted);
    Trainer trainer(run);
    trainer.restore(directory / "cut");
    EXPECT_EQ(trainer.train(directory / "cut", after).values.dump(), expected.values.dump()) << stop;
    EXPECT_EQ(read_file(directory / "cut"), read_file(directory / "whole")) << stop;
  }
}

}  // namespace
}  // namespace mneme::train
