// Somebody deletes a run's directory while it is trained.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "core/subprocess.h"
#include "store/sample_lab.h"
#include "support/expect_error.h"
#include "support/places.h"

namespace mneme {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RemovedRun, IsCalledSoAndStartsAgainAtOnce) {
  const testing::SampleLab sample;
  const config::RunConfig run = testing::sample_run({"train.steps=4000", "train.eval_every=20"});
  std::vector<std::string> argv{binary_directory() + "/mneme", "train", "--lab", sample.lab.root().string()};
  for (const char* argument :
       {"task.length=8", "task.pairs=1", "task.vocab=16", "model.width=8", "model.layers=1", "train.steps=4000",
        "train.batch=4", "train.eval_examples=8", "train.test_examples=8", "train.eval_every=20"})
    argv.push_back(argument);
  const auto start = std::chrono::steady_clock::now();
  LineProcess command({.argv = argv, .environment = {}, .own_group = true});
  std::string words;
  bool removed = false;
  while (!command.exit_code()) {
    for (const std::string& line : command.receive()) words += line + "\n";
    if (!removed && std::filesystem::exists(sample.lab.run(run.id).path() / "metrics.jsonl")) {
      std::error_code ignored;
      std::filesystem::rename(sample.lab.run(run.id).path(), sample.directory / "elsewhere", ignored);
      removed = !ignored;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  words += command.error_tail();
  ASSERT_TRUE(removed);
  EXPECT_EQ(command.exit_code(), 0) << words;
  EXPECT_THAT(words, HasSubstr("its directory was removed; starting again"));
  EXPECT_THAT(words, Not(HasSubstr("taken over")));
  EXPECT_EQ(sample.lab.run(run.id).state(), store::RunState::done);
  // A lease is five minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(120));
}

TEST(RemovedRun, IsNoOlderAttempt) {
  const testing::SampleLab sample;
  const config::RunConfig run = testing::sample_run();
  const store::RunWriter writer = store::RunWriter::begin(sample.lab.run(run.id), run.json(), 1, "test");
  std::filesystem::rename(sample.lab.run(run.id).path(), sample.directory / "elsewhere");
  EXPECT_THROW(writer.append_metric({{"step", 1}}), store::RunRemoved);
}

}  // namespace
}  // namespace mneme
