#include "train/trainer.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "support/temporary_directory.h"

namespace mneme::train {
namespace {

config::RunConfig tiny(const std::string& extra = "") {
  return config::resolve_run(parse_toml(
      "[task]\nlength = 8\npairs = 2\nvocab = 16\n[model]\nwidth = 16\nembed_dropout = 0.1\n"
      "[train]\nbatch = 16\nmicro_batch = 5\nsteps = 12\neval_every = 4\neval_examples = 50\ntest_examples = 50\n" +
          extra,
      "test"));
}

// Keeps what it hears; can ask to stop after a step.
struct Listener : TrainObserver {
  std::vector<Json> metrics;
  std::int64_t stop_after = -1, step = 0, evaluating = 0;
  void on_step(const Progress& progress) override { step = progress.step; }
  void on_evaluating() override { ++evaluating; }
  void on_metric(std::int64_t at, const Json& values) override { metrics.push_back({at, values}); }
  bool wants_checkpoint() override { return false; }
  void on_checkpoint(std::int64_t, double) override {}
  bool wants_stop() override { return step == stop_after; }
};

TEST(Trainer, RepeatsToTheBit) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = tiny();
  Listener first, second;
  const TrainResult a = Trainer(run).train(directory / "a", first), b = Trainer(run).train(directory / "b", second);
  EXPECT_EQ(a.values.dump(), b.values.dump());
  EXPECT_EQ(first.metrics, second.metrics);
  EXPECT_EQ(read_file(directory / "a"), read_file(directory / "b"));
  EXPECT_EQ(first.metrics.size(), 3U);
}

TEST(Trainer, AnEvaluationShowsThatItIsAliveAfterEveryMicroBatch) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = tiny();
  Listener listener;
  Trainer(run).train(directory / "checkpoint", listener);
  // Three evaluations and the test, 50 examples each in micro-batches of 5.
  EXPECT_EQ(listener.evaluating, 4 * 10);
}

TEST(Trainer, AResumedRunEqualsAnUninterruptedOne) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = tiny("clip = 0.5\nexamples = 40\n");
  Listener whole;
  const TrainResult expected = Trainer(run).train(directory / "whole", whole);
  for (std::int64_t stop = 1; stop < 12; ++stop) {
    Listener before, after;
    before.stop_after = stop;
    const TrainResult interrupted = Trainer(run).train(directory / "cut", before);
    EXPECT_EQ(interrupted.outcome, Outcome::interrupted);
    Trainer trainer(run);
    trainer.restore(directory / "cut");
    EXPECT_EQ(trainer.position(), stop);
    const TrainResult result = trainer.train(directory / "cut", after);
    EXPECT_EQ(result.values.dump(), expected.values.dump()) << "stopped after step " << stop;
    auto metrics = before.metrics;
    metrics.insert(metrics.end(), after.metrics.begin(), after.metrics.end());
    EXPECT_EQ(metrics, whole.metrics) << "stopped after step " << stop;
    EXPECT_EQ(read_file(directory / "cut"), read_file(directory / "whole"));
  }
}

TEST(Trainer, MicroBatchesAreTheSameMathematics) {
  const testing::TemporaryDirectory directory;
  Listener listener;
  const auto loss = [&](const std::string& micro) {
    const config::RunConfig run =
        config::resolve_run(parse_toml("[task]\nlength = 8\npairs = 2\nvocab = 16\n[model]\nwidth = 16\n"
                                       "[train]\nbatch = 16\nsteps = 3\neval_examples = 50\nmicro_batch = " +
                                           micro,
                                       "test"));
    return Trainer(run).train(directory / "c", listener).values["validation"]["loss"].get<double>();
  };
  EXPECT_NEAR(loss("16"), loss("3"), 1e-5);
}

TEST(Trainer, DivergenceIsAnOutcomeWithTheLastFiniteMetrics) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run =
      tiny("lr = 1e6\nwarmup = 0.0\neps = 1e-30\nweight_decay = 1000.0\nschedule = 'constant'\n");
  Listener listener;
  const TrainResult result = Trainer(run).train(directory / "c", listener);
  EXPECT_EQ(result.outcome, Outcome::diverged);
  EXPECT_FALSE(result.values.contains("test"));
  for (const Json& metric : listener.metrics) EXPECT_TRUE(metric[1]["loss"].is_number());
}

TEST(Trainer, GivesUpWhereThereIsNoHope) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = tiny("lr = 0.0\ngive_up_after = 0.5\ngive_up_below = 0.99\n");
  Listener listener;
  const TrainResult result = Trainer(run).train(directory / "c", listener);
  EXPECT_EQ(result.outcome, Outcome::done);
  EXPECT_EQ(result.reason, "hopeless");
  EXPECT_EQ(result.values["step"], 8);  // the first evaluation after half of 12 steps
  EXPECT_TRUE(result.values.contains("test"));
  // A crash between the last checkpoint and the summary comes to the same end.
  Trainer again(run);
  again.restore(directory / "c");
  EXPECT_EQ(again.train(directory / "c", listener).reason, "hopeless");
  EXPECT_EQ(
      Trainer(tiny("lr = 0.0\ngive_up_after = 1.0\ngive_up_below = 0.99\n")).train(directory / "d", listener).reason,
      "budget");
}

TEST(Trainer, LearnsAndStopsAtTheThreshold) {
  const testing::TemporaryDirectory directory;
  // One pair in a tiny vocabulary: the answer is always the second token.
  const config::RunConfig run =
      config::resolve_run(parse_toml("[task]\nlength = 8\npairs = 1\nvocab = 16\n[model]\nwidth = 32\n"
                                     "[train]\nbatch = 64\nsteps = 400\nlr = 3e-3\neval_every = 20\nstop_at = 0.95\n",
                                     "test"));
  Listener listener;
  const TrainResult result = Trainer(run).train(directory / "c", listener);
  EXPECT_EQ(result.reason, "threshold");
  EXPECT_LT(result.values["step"], 400);
  EXPECT_GE(result.values["test"]["accuracy"], 0.9);
  // A crash between the last checkpoint and the summary must not train on.
  Trainer again(run);
  again.restore(directory / "c");
  EXPECT_EQ(again.train(directory / "c", listener).values.dump(), result.values.dump());
}

TEST(Trainer, CountsOnASignalTask) {
  const testing::TemporaryDirectory directory;
  for (const std::string loss : {"bce", "mse"}) {
    const config::RunConfig run = config::resolve_run(parse_toml(
        "[task]\nname = 'counting'\nlength = 40\nisi = 3\niti = [4, 6]\n[model]\nwidth = 32\n"
        "[train]\nbatch = 16\nsteps = 300\nlr = 3e-3\neval_examples = 50\ntest_examples = 50\nsignal_loss = '" +
            loss + "'\n",
        "test"));
    Listener listener;
    Trainer trainer(run);
    EXPECT_EQ(trainer.parameters().size(), run.parameters());
    const TrainResult result = trainer.train(directory / "c", listener);
    EXPECT_EQ(result.outcome, Outcome::done);
    EXPECT_LT(listener.metrics.front()[1]["offset"], 0.5) << loss;  // before it has learned to count
    EXPECT_GT(result.values["test"]["offset"], 0.9) << loss;
  }
}

TEST(Trainer, RefusesAForeignCheckpoint) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = tiny(), other = tiny("seed = 7\n");
  Trainer(run).save(directory / "c");
  Trainer trainer(other);
  EXPECT_THROW(trainer.restore(directory / "c"), Error);
}

}  // namespace
}  // namespace mneme::train
