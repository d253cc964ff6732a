// Sweeps by a real Slurm that takes nodes away: time limits and preemption. Counted as in slurm_trouble_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "cluster/slurm_trouble.h"

namespace mneme {
namespace {

using ::testing::HasSubstr;
using testing::SlurmTrouble;

class SlurmLimits : public SlurmTrouble {
 protected:
  // How often a task's log has this text, by the log's name.
  std::map<std::string, int> counts(const std::string& text) const {
    std::map<std::string, int> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(lab.root() / "jobs")) {
      if (entry.path().extension() != ".log") continue;
      const std::string log = read_file(entry.path());
      int& count = found[entry.path().filename().string()];
      for (std::size_t at = 0; (at = log.find(text, at)) != log.npos; at += text.size()) ++count;
    }
    return found;
  }
  static int sum(const std::map<std::string, int>& counts) {
    int total = 0;
    for (const auto& [name, count] : counts) total += count;
    return total;
  }
};

TEST_F(SlurmLimits, SlowATaskLeavesBeforeItsLimitAndRequeuesItselfAndNoOther) {
  write_file_atomically(lab.root() / "slurm.toml", "warning_seconds = 20\n");
  // Longer than a job, so every run is cut and resumed.
  steps = "train.steps=60000";
  submit({"--time", "1:00"});
  expect_end();
  const auto starts = counts(" of job "), asked = counts("asks Slurm to restart it: its time ran out");
  for (const auto& [log, count] : starts) EXPECT_EQ(count, 1 + asked.at(log)) << log << ": requeued by another task";
  EXPECT_EQ(starts.size(), 4u);
  EXPECT_GE(sum(asked), 4) << logs();
  EXPECT_GT(sum(counts("is interrupted: stopped")), 0) << "no run was cut";
  std::printf("%d starts of 4 tasks, %d times a run was cut and resumed\n", sum(starts),
              sum(counts("is interrupted: stopped")));
  expect_whole(on_this_machine({study.string(), steps}), "time limits");
}

TEST_F(SlurmLimits, SlowAJobThatIsPreemptedGoesOnLater) {
  steps = "train.steps=20000";
  submit();
  ASSERT_TRUE(training(4));
  for (int job = 0; job < 2; ++job)
    EXPECT_EQ(slurm().command({"sbatch", "-p", "high", "-o", "/dev/null", "--wrap", "sleep 5"}).exit_code, 0);
  EXPECT_TRUE(wait_until([&] { return sum(counts("stopping: workers write checkpoints")) >= 2; })) << logs();
  expect_end();
  const int again = sum(counts(" of job ")) - 4;
  EXPECT_EQ(again, 2) << logs();
  std::printf("2 of 4 tasks preempted, %d started again\n", again);
  expect_whole(on_this_machine({study.string(), steps}), "preemption");
}

}  // namespace
}  // namespace mneme
