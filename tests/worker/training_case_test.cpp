#include "worker/training_case.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/safetensors.h"
#include "support/temporary_directory.h"

namespace mneme::worker {
namespace {

config::RunConfig run_of(const char* task) {
  return config::resolve_run(parse_toml(
      std::string("[task]\n") + task + "\n[model]\nwidth = 8\n[train]\nbatch = 6\nmicro_batch = 4\n", "test"));
}

TEST(TrainingCase, HoldsWhatAnotherProgramNeedsForTheFirstStep) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = run_of("length = 8\npairs = 2\nvocab = 16");
  train::Trainer trainer(run), same(run);
  save_training_case(directory / "case", trainer, run);
  EXPECT_EQ(trainer.position(), 1);

  const Safetensors file = Safetensors::load(directory / "case");
  EXPECT_EQ(file.metadata().at("loss"), fmt::format("{}", same.step().loss));
  EXPECT_EQ(config::resolve_run(config_from_json(parse_json(file.metadata().at("config"), "case"), "case")).id, run.id);
  EXPECT_GT(std::stod(file.metadata().at("gradient_norm")), 0);
  EXPECT_EQ(file.tensors().at("tokens").shape, (std::vector<std::int64_t>{6, 8}));
  EXPECT_EQ(file.tensors().at("answers").shape, file.tensors().at("labelled").shape);
  std::int64_t parameters = 0;
  for (const auto& segment : trainer.parameters().segments()) {
    EXPECT_EQ(file.tensors().at("param." + segment.name).shape, segment.shape);
    parameters += segment.size;
  }
  EXPECT_EQ(parameters, run.parameters());
}

TEST(TrainingCase, OfASignalTaskIsRefused) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = run_of("name = \"counting\"");
  train::Trainer trainer(run);
  EXPECT_THROW(save_training_case(directory / "case", trainer, run), Error);
}

}  // namespace
}  // namespace mneme::worker
