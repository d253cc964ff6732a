// What train.keep keeps, and loading weights into a model.
#include "train/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/expect_error.h"
#include "support/temporary_directory.h"
#include "train/trainer.h"

namespace mneme::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TemporaryDirectory;

config::RunConfig tiny(const std::string& extra = "") {
  return config::resolve_run(
      parse_toml("[task]\nlength = 8\npairs = 1\nvocab = 12\n[model]\nwidth = 4\nlayers = 1\n"
                 "[train]\nbatch = 2\nsteps = 10\neval_every = 5\neval_examples = 4\ntest_examples = 4\n" +
                     extra,
                 "test"));
}

// Copies the flat weights after every step; leaves after `stop_after`.
struct Copier : TrainObserver {
  Trainer* trainer = nullptr;
  std::map<std::int64_t, torch::Tensor> seen;
  std::int64_t stop_after = -1, step = 0;
  void on_step(const Progress& progress) override {
    step = progress.step;
    seen[step] = trainer->parameters().values.clone();
  }
  void on_metric(std::int64_t, const Json&) override {}
  bool wants_checkpoint() override { return false; }
  void on_checkpoint(std::int64_t, double) override {}
  bool wants_stop() override { return step == stop_after; }
};

torch::Tensor flat(models::SequenceModel& model) { return FlatParameters(model).values; }

std::string hash_after_training(const config::RunConfig& run, const Path& file) {
  Trainer trainer(run);
  Copier copier;
  copier.trainer = &trainer;
  trainer.train(file, copier);
  return trainer.parameters().hash();
}

TEST(Weights, AreKeptAfterTheChosenStepsAndLoadedAgain) {
  const TemporaryDirectory directory;
  const config::RunConfig run = tiny("keep = [7, 0, 3, 7]\n");
  EXPECT_THAT(run.train.integers("keep"), ElementsAre(0, 3, 7));
  const CheckpointFiles files(directory / "checkpoint.safetensors");
  Trainer trainer(run);
  Copier copier;
  copier.trainer = &trainer;
  copier.seen[0] = trainer.parameters().values.clone();
  trainer.train(files, copier);
  for (const std::int64_t step : {0, 3, 7}) {
    const TrainedModel kept = trained_model(run, files, step);
    EXPECT_EQ(kept.step, step);
    EXPECT_TRUE(torch::equal(flat(*kept.model), copier.seen.at(step))) << step;
  }
  const TrainedModel last = trained_model(run, files);
  EXPECT_EQ(last.step, 10);
  EXPECT_TRUE(torch::equal(flat(*last.model), copier.seen.at(10)));
  EXPECT_FALSE(std::filesystem::exists(files.kept_at(10))) << "only what was asked for";
}

TEST(Weights, KeepingThemDoesNotChangeTraining) {
  const TemporaryDirectory directory;
  EXPECT_EQ(hash_after_training(tiny(), directory / "a.safetensors"),
            hash_after_training(tiny("keep = [0, 1, 2, 10]\n"), directory / "b.safetensors"));
  EXPECT_NE(tiny().id, tiny("keep = [1]\n").id);
}

TEST(Weights, ARunThatResumesHasThemAll) {
  const TemporaryDirectory directory;
  const config::RunConfig run = tiny("keep = [0, 4, 6]\n");
  const CheckpointFiles files(directory / "checkpoint.safetensors");
  for (const std::int64_t stop : {4, 5, -1}) {
    Trainer trainer(run);
    trainer.recover(files);
    Copier copier;
    copier.trainer = &trainer;
    copier.stop_after = stop;
    trainer.train(files, copier);
  }
  for (const std::int64_t step : {0, 4, 6}) EXPECT_EQ(trained_model(run, files, step).step, step);
}

TEST(Weights, WhatIsNotThereOrDamagedIsSaid) {
  const TemporaryDirectory directory;
  const config::RunConfig run = tiny("keep = [4]\n");
  const CheckpointFiles files(directory / "checkpoint.safetensors");
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { trained_model(run, files); }), HasSubstr("no checkpoint"));
  hash_after_training(run, files.current);
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { trained_model(run, files, 5); }),
              HasSubstr("no weights of step 5 are kept, expected a step of train.keep = [4]"));
  EXPECT_THAT(testing::error_of(ErrorKind::data, [&] { trained_model(tiny("keep = [4, 5]\n"), files, 4); }),
              HasSubstr("a checkpoint of run " + run.id));
  const std::string whole = read_file(files.kept_at(4));
  std::ofstream(files.kept_at(4), std::ios::binary) << whole.substr(0, whole.size() - 1) << '\0';
  if (whole.back() != '\0') testing::error_of(ErrorKind::data, [&] { trained_model(run, files, 4); });
  std::ofstream(files.kept_at(4), std::ios::binary) << whole.substr(0, whole.size() / 2);
  testing::error_of(ErrorKind::data, [&] { trained_model(run, files, 4); });
}

TEST(Weights, OnlyStepsOfTheRunCanBeKept) {
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [] { tiny("keep = [3, 11]\n"); }),
              HasSubstr("train.keep: got [3,11], expected steps from 0 to train.steps = 10"));
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [] { tiny("keep = [-1]\n"); }), HasSubstr("train.keep"));
  EXPECT_THAT(tiny("keep = 3\n").train.integers("keep"), ElementsAre(3));
}

}  // namespace
}  // namespace mneme::train
