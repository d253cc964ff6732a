// A process that Slurm takes for dead and that lives on: it must not be able to write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "cluster/slurm_trouble.h"

namespace mneme {
namespace {

using ::testing::HasSubstr;
using testing::SlurmServer;
using testing::SlurmTrouble;

// Everything that the lab's runs hold, byte by byte.
std::map<std::string, std::string> contents(const store::Lab& lab) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(lab.runs()))
    if (entry.is_regular_file()) files[entry.path().string()] = read_file(entry.path());
  return files;
}

TEST_F(SlurmTrouble, SlowAPausedProcessThatLivesOnAfterItsJobWasRequeuedCannotWrite) {
  lease = "6s";
  steps = "train.steps=20000";
  submit();
  ASSERT_TRUE(training(4));
  const std::string node = node_of_a_job();
  const std::vector<pid_t> paused = slurm().job_processes(node);
  ASSERT_GE(paused.size(), 2u) << "the node's process and its worker";
  // Before they are stopped: a stopped process that loses its parent is told to go on.
  slurm().cut_off(node);
  for (const pid_t pid : paused) ::kill(pid, SIGSTOP);
  expect_end();
  const testing::Account before = testing::account_of(lab);
  const auto files = contents(lab);
  EXPECT_THAT(logs(), HasSubstr("start 2")) << "its job was not requeued";
  std::size_t alive = 0;
  for (const pid_t pid : paused) alive += SlurmServer::is_gone(pid) ? 0 : 1;
  EXPECT_EQ(alive, paused.size()) << "nobody is left to write";

  for (const pid_t pid : paused) ::kill(pid, SIGCONT);
  EXPECT_TRUE(wait_until([&] { return std::all_of(paused.begin(), paused.end(), SlurmServer::is_gone); }))
      << "it goes on training";
  const auto after = contents(lab);
  std::size_t stale = 0;
  for (const auto& [file, bytes] : after) {
    const auto found = files.find(file);
    if (found != files.end() && found->second == bytes) continue;
    ++stale;
    ADD_FAILURE() << file << " was written by a process whose job was requeued";
  }
  EXPECT_EQ(files.size(), after.size());
  EXPECT_EQ(before.table, testing::account_of(lab).table);
  std::printf("%zu paused processes went on, %zu files, %zu stale writes\n", paused.size(), after.size(), stale);
  expect_whole(on_this_machine({study.string(), steps}), "a process that lived on");
}

}  // namespace
}  // namespace mneme
