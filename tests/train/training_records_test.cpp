// What an evaluation records of training itself: norms, rate, means since the evaluation before.
#include <gtest/gtest.h>

#include "core/safetensors.h"
#include "support/temporary_directory.h"
#include "train/trainer.h"

namespace mneme::train {
namespace {

config::RunConfig tiny(const std::string& extra = "") {
  return config::resolve_run(
      parse_toml("[task]\nlength = 8\npairs = 2\nvocab = 16\n[model]\nwidth = 16\n"
                 "[train]\nbatch = 16\nsteps = 12\neval_every = 3\neval_examples = 50\ntest_examples = 50\n" +
                     extra,
                 "test"));
}

// Follows a trainer step by step and computes the same numbers from its buffers.
struct Follower : TrainObserver {
  explicit Follower(const config::RunConfig& run) : run_(run) {}
  Trainer* trainer = nullptr;
  double sum = 0, most = 0, accuracy = 0;
  std::int64_t steps = 0, stop_after = -1, step = 0;
  std::vector<Json> metrics;

  void on_step(const Progress& progress) override {
    step = progress.step;
    const double norm = trainer->parameters().gradients.to(torch::kDouble).norm().item<double>();
    sum += norm;
    most = std::max(most, norm);
    accuracy += progress.accuracy;
    ++steps;
  }
  void on_metric(std::int64_t at, const Json& values) override {
    const auto count = static_cast<double>(steps);
    EXPECT_NEAR(values["gradient_norm"].get<double>(), sum / count, 1e-6 * sum);
    EXPECT_NEAR(values["gradient_norm_max"].get<double>(), most, 1e-6 * most);
    EXPECT_NEAR(values["train_accuracy"].get<double>(), accuracy / count, 1e-12);
    const double weights = trainer->parameters().values.to(torch::kDouble).norm().item<double>();
    EXPECT_NEAR(values["parameter_norm"].get<double>(), weights, 1e-6 * weights);
    EXPECT_EQ(values["learning_rate"].get<double>(), learning_rate(run_.train, at - 1));
    sum = most = accuracy = 0;
    steps = 0;
    metrics.push_back(values);
  }
  bool wants_checkpoint() override { return false; }
  void on_checkpoint(std::int64_t, double) override {}
  bool wants_stop() override { return step == stop_after; }

 private:
  const config::RunConfig& run_;
};

TEST(TrainingRecords, AreWhatTheBuffersSay) {
  const testing::TemporaryDirectory directory;
  for (const char* clip : {"clip = 0.0\n", "clip = 0.01\n"}) {
    const config::RunConfig run = tiny(clip);
    Trainer trainer(run);
    Follower follower(run);
    follower.trainer = &trainer;
    trainer.train(directory / "checkpoint", follower);
    ASSERT_EQ(follower.metrics.size(), 4U);
    // Before clipping.
    for (const Json& values : follower.metrics) EXPECT_GT(values["gradient_norm"].get<double>(), 0.02) << clip;
  }
}

// A checkpoint of version 0.1 has no sums of these: the means are then over the steps since it.
TEST(TrainingRecords, ACheckpointWithoutThemIsGoneOnWith) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = tiny();
  {
    Trainer trainer(run);
    Follower before(run);
    before.trainer = &trainer;
    before.stop_after = 4;
    trainer.train(directory / "checkpoint", before);
  }
  const Safetensors saved = Safetensors::load_sealed(directory / "checkpoint");
  std::map<std::string, std::string> metadata(saved.metadata().begin(), saved.metadata().end());
  Json position = parse_json(metadata.at("position"), "position");
  for (const char* name : {"accuracy_sum", "gradient_sum", "gradient_most", "noted_steps"})
    ASSERT_EQ(position.erase(name), 1U) << name;
  save_sealed_safetensors(directory / "old", saved.tensors(),
                          {{"format", metadata.at("format")}, {"run", run.id}, {"position", canonical(position)}});
  Trainer trainer(run);
  Follower after(run);
  after.trainer = &trainer;
  trainer.restore(directory / "old");
  ASSERT_EQ(trainer.position(), 4);
  EXPECT_EQ(trainer.train(directory / "checkpoint", after).outcome, Outcome::done);
  EXPECT_EQ(after.metrics.size(), 3U);
}

TEST(TrainingRecords, ANormThatIsNotFiniteIsNull) {
  EXPECT_TRUE(finite_or_null(std::numeric_limits<double>::infinity()).is_null());
  EXPECT_TRUE(finite_or_null(std::numeric_limits<double>::quiet_NaN()).is_null());
  EXPECT_EQ(finite_or_null(0.5), 0.5);
}

}  // namespace
}  // namespace mneme::train
