// What the trainer records of its last steps, for the autopsy of a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/temporary_directory.h"
#include "train/trainer.h"

namespace mneme::train {
namespace {

config::RunConfig tiny(const std::string& mixer, const std::string& extra = "steps = 12\n") {
  return config::resolve_run(parse_toml("[task]\nlength = 8\npairs = 2\nvocab = 16\n[model]\nwidth = 16\nmixer = '" +
                                            mixer +
                                            "'\n[train]\nbatch = 8\neval_every = 6\neval_examples = 20\n"
                                            "test_examples = 20\n" +
                                            extra,
                                        "test"));
}

struct Stopper : TrainObserver {
  std::int64_t stop_after = -1, step = 0;
  void on_step(const Progress& progress) override { step = progress.step; }
  void on_metric(std::int64_t, const Json&) override {}
  bool wants_checkpoint() override { return false; }
  void on_checkpoint(std::int64_t, double) override {}
  bool wants_stop() override { return step == stop_after; }
};

double length_of(const torch::Tensor& values) { return values.to(torch::kDouble).norm().item<double>(); }

TEST(TrainingTrace, IsWhatTheBuffersSay) {
  for (const char* clip : {"steps = 12\nclip = 0.0\n", "steps = 12\nclip = 0.01\n"}) {
    const config::RunConfig run = tiny("gru", clip);
    Trainer trainer(run);
    for (int i = 0; i < 3; ++i) {
      const torch::Tensor before = trainer.parameters().values.clone();
      const Progress progress = trainer.step();
      const TraceStep& step = trainer.trace().steps.back();
      EXPECT_EQ(step.step, progress.step);
      EXPECT_EQ(step.loss, static_cast<float>(progress.loss));
      const torch::Tensor change = trainer.parameters().values - before;
      for (std::size_t g = 0; g < trainer.trace().groups.size(); ++g) {
        const auto& segment = trainer.parameters().segments()[g];
        EXPECT_EQ(segment.name, trainer.trace().groups[g]);
        const auto part = [&](const torch::Tensor& all) {
          return length_of(all.narrow(0, segment.offset, segment.size));
        };
        const double gradient = part(trainer.parameters().gradients);
        EXPECT_NEAR(step.gradient_norm[g], gradient, 1e-5 * gradient) << segment.name;
        const double ratio = part(change) / (part(before) > 0 ? part(before) : 1);
        EXPECT_NEAR(step.update_ratio[g], ratio, 1e-4 * ratio) << segment.name;
      }
    }
  }
}

TEST(TrainingTrace, TheLargestLogitIsThatOfTheBatch) {
  const config::RunConfig run = tiny("gru");
  Trainer trainer(run);
  trainer.step();
  // Before the first step the model is as it is drawn: the same batch again, all logits of it.
  Trainer again(run);
  const auto task = run.task_entry->build(run.task);
  const tasks::ExampleSource source(*task, static_cast<std::uint64_t>(run.train.integer("data_seed")),
                                    tasks::Split::train);
  const std::vector<std::uint64_t> indices{0, 1, 2, 3, 4, 5, 6, 7};
  const Batch batch = make_batch(source, run.shape, indices);
  nn::Pass pass = nn::Pass::evaluation();
  const torch::Tensor logits = again.model().logits(batch.tokens, pass).flatten(0, 1);
  const double largest = logits.index_select(0, torch::tensor(batch.labelled)).max().item<double>();
  EXPECT_NEAR(trainer.trace().steps.front().largest_logit, largest, 1e-5 * std::abs(largest));
}

TEST(TrainingTrace, DoesNotChangeTraining) {
  const config::RunConfig run = tiny("mamba");
  Trainer with(run), without(run);
  without.record_trace(false);
  for (int i = 0; i < 10; ++i) {
    with.step();
    without.step();
  }
  EXPECT_EQ(with.parameters().hash(), without.parameters().hash());
  EXPECT_EQ(with.trace().steps.size(), 10U);
  EXPECT_TRUE(without.trace().steps.empty());
}

TEST(TrainingTrace, WhoResumesHasTheSameLastSteps) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = tiny("mamba");
  Stopper whole, cut;
  cut.stop_after = 5;
  Trainer straight(run), first(run), second(run);
  straight.train(directory / "a.safetensors", whole);
  first.train(directory / "b.safetensors", cut);
  second.recover(directory / "b.safetensors");
  second.train(directory / "b.safetensors", whole);
  save_autopsy(directory / "a", straight.trace(), run.id);
  save_autopsy(directory / "b", second.trace(), run.id);
  EXPECT_EQ(straight.trace().steps.size(), 12U);
  EXPECT_EQ(read_file(directory / "a"), read_file(directory / "b"));
}

// Mixers with a known decay; others say NaN.
TEST(TrainingTrace, DecaysAreReadOffTheParameters) {
  const auto range = [](const std::string& mixer, const std::string& name, double value, const std::string& steps = "",
                        double step = 0) {
    const config::RunConfig run = tiny(mixer);
    const auto model = models::build_model(run);
    const FlatParameters parameters(*model);
    for (const auto& segment : parameters.segments()) {
      torch::Tensor part = parameters.values.narrow(0, segment.offset, segment.size);
      if (segment.name.ends_with("." + name)) part.fill_(value);
      if (!steps.empty() && segment.name.ends_with("." + steps)) part.fill_(step);
    }
    return Decays(parameters).range();
  };
  const auto expect = [](std::pair<float, float> found, double decay) {
    EXPECT_NEAR(found.first, decay, 1e-6);
    EXPECT_NEAR(found.second, decay, 1e-6);
  };
  expect(range("ema", "decay", std::log(3.0)), 0.75);
  expect(range("rwkv4", "time_decay", std::log(0.5)), std::exp(-0.5));
  const double softplus = std::log1p(std::exp(-1.0));
  for (const char* mixer : {"mamba2", "gated_deltanet"})
    expect(range(mixer, "A_log", std::log(2.0), "dt_bias", -1), std::exp(-2 * softplus));
  expect(range("mamba", "A_log", std::log(2.0), "dt_proj.bias", -1), std::exp(-2 * softplus));
  expect(range("s4d", "log_A_real", std::log(2.0), "log_dt", std::log(0.1)), std::exp(-0.2));
  EXPECT_TRUE(std::isnan(range("gru", "none", 0).first));
  EXPECT_TRUE(std::isnan(range("ema", "decay", NAN).second));
}

// The matrix of an IDS4 has no bound: at a rate that warms up to 1 its powers overflow within some tens of steps, and
// the autopsy has the group, not later than the loss is lost.
TEST(TrainingTrace, ARunThatReallyDivergesNamesTheGroup) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = config::resolve_run(
      parse_toml("[task]\nlength = 48\npairs = 2\nvocab = 64\n[model]\nwidth = 16\nmixer = 'ids4'\n[train]\nbatch = 8\n"
                 "eval_every = 400\neval_examples = 20\ntest_examples = 20\nsteps = 400\nclip = 0.0\nlr = 1.0\n"
                 "schedule = 'constant'\nwarmup = 0.9\n",
                 "test"));
  Stopper observer;
  Trainer trainer(run);
  const TrainResult result = trainer.train(directory / "c.safetensors", observer);
  ASSERT_EQ(result.outcome, Outcome::diverged) << "after " << trainer.trace().steps.back().step;
  save_autopsy(directory / "a", trainer.trace(), run.id);
  const TrainingTrace kept = load_autopsy(directory / "a");
  EXPECT_FALSE(std::isfinite(kept.steps.back().loss));
  const auto found = departures(kept);
  ASSERT_FALSE(found.empty());
  EXPECT_FALSE(found.front().group.empty()) << found.front().quantity;
  EXPECT_LE(found.front().step, kept.steps.back().step);
  const auto matrix = std::find_if(found.begin(), found.end(), [](const Departure& one) {
    return one.group.ends_with("sequence_mixer.A") && !std::isfinite(one.value);
  });
  EXPECT_NE(matrix, found.end());
}

TEST(TrainingTrace, APlantedFaultIsFoundAtItsStep) {
  const config::RunConfig run = tiny("gru", "steps = 40\n");
  Trainer trainer(run);
  for (int i = 0; i < 20; ++i) trainer.step();
  // A planted fault: one group of weights is thrown far away.
  const auto& segments = trainer.parameters().segments();
  const auto& group = segments[segments.size() / 2];
  trainer.parameters().values.narrow(0, group.offset, group.size).fill_(std::numeric_limits<float>::quiet_NaN());
  EXPECT_FALSE(std::isfinite(trainer.step().loss));
  const auto found = departures(trainer.trace());
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().step, 21);
}

}  // namespace
}  // namespace mneme::train
