// Losing its reader costs a command nothing but its words.
#include <gtest/gtest.h>

#include "core/subprocess.h"
#include "store/sample_lab.h"
#include "support/places.h"

namespace mneme {
namespace {

class ClosedPipe : public ::testing::Test {
 protected:
  // The exit code of `mneme ... 2>&1 | head -1`'s first part.
  std::string exit_code_behind(const std::string& reader, const std::string& arguments) const {
    const std::string script = "set -o pipefail; export MNEME_LAB='" + sample.lab.root().string() + "'; { '" +
                               binary_directory() + "/mneme' " + arguments + " 2>&1; echo $? > '" + code + "'; } | " +
                               reader;
    run_process({"bash", "-c", script});
    return read_file(code);
  }
  std::size_t done() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(sample.lab.runs()))
      count += store::RunDirectory(entry.path()).state() == store::RunState::done ? 1 : 0;
    return count;
  }

  testing::SampleLab sample;
  std::string code = (sample.directory / "code").string();
  const std::string tiny =
      "task.length=8 task.pairs=1 task.vocab=16 model.width=8 model.layers=1 train.batch=4 train.eval_examples=8 "
      "train.test_examples=8 train.steps=200 train.eval_every=10 ";
};

TEST_F(ClosedPipe, DoesNotEndTraining) {
  EXPECT_EQ(exit_code_behind("head -1", "train " + tiny), "0\n");
  EXPECT_EQ(done(), 1u);
}

TEST_F(ClosedPipe, DoesNotEndASweepOrAWindow) {
  const std::string study = (sample.directory / "study.toml").string();
  write_file_atomically(study, "title = \"t\"\n");
  EXPECT_EQ(exit_code_behind("true", "sweep " + study + " 'train.seed=[1, 2]' --jobs 1 " + tiny), "0\n");
  EXPECT_EQ(done(), 2u);
  EXPECT_EQ(
      exit_code_behind("true", "window --mixer attention --low 1e-3 --high 1e-2 --rates 4 --seeds 1 --jobs 1 " + tiny),
      "0\n");
}

TEST_F(ClosedPipe, IsNoErrorOfACommandThatOnlyPrints) {
  EXPECT_EQ(exit_code_behind("true", "list"), "0\n");
  EXPECT_EQ(exit_code_behind("head -1", "show mixer attention"), "0\n");
}

TEST_F(ClosedPipe, IsNotTakenForAFullDisk) {
  const ProcessResult full = run_process({"sh", "-c", "'" + binary_directory() + "/mneme' list > /dev/full"});
  EXPECT_EQ(full.exit_code, 4) << full.err;
}

}  // namespace
}  // namespace mneme
