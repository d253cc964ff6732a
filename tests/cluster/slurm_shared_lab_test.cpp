// What a lab that many use goes through: two users at once, and a full disk. Both need root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "cluster/slurm_trouble.h"

namespace mneme {
namespace {

using ::testing::HasSubstr;
using testing::SlurmTrouble;

class SlurmSharedLab : public SlurmTrouble {
 protected:
  void SetUp() override {
    MNEME_SLOW_TEST();
    if (::getuid() != 0) GTEST_SKIP() << "needs root: it acts for two users, and mounts a small disk";
    start();
  }
  ~SlurmSharedLab() override {
    if (mounted) run_process({"umount", "-l", lab.root().string()});
  }
  // Another user can read the programs and write to the lab.
  void open_to_all() const {
    namespace fs = std::filesystem;
    fs::create_directories(sample.directory / "bin");
    for (const char* program : {"mneme", "mneme-worker"})
      fs::copy_file(binary_directory() + "/" + program, sample.directory / "bin" / program);
    fs::permissions(sample.directory.path(), fs::perms(0755));
    fs::permissions(database().directory(), fs::perms(0755));
    for (const auto& entry : fs::recursive_directory_iterator(lab.root()))
      fs::permissions(entry.path(), fs::perms(0777));
    fs::permissions(lab.root(), fs::perms(0777));
  }
  std::vector<std::string> as(const std::string& user, const std::vector<std::string>& arguments) const {
    std::vector<std::string> all{
        "setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups", "--", "bash", "-c", "umask 0; exec \"$@\"",
        "bash"};
    for (const std::string& part : environment()) all.push_back(part);
    all.push_back((sample.directory / "bin" / "mneme").string());
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--lab", lab.root().string()});
    return all;
  }
  std::vector<std::string> two_nodes(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"sweep", study.string(), steps, "--executor", "slurm", "--nodes", "2"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  bool mounted = false;
};

TEST_F(SlurmSharedLab, SlowTwoUsersShareTheRunsOfOneStudy) {
  open_to_all();
  steps = "train.steps=20000";
  const ProcessResult refused = run_process(as("daemon", two_nodes({"--detach", "--partition", "closed"})));
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("Slurm would refuse this job: "));
  EXPECT_THAT(refused.err, HasSubstr("not permitted"));
  EXPECT_TRUE(queue_empty());
  for (const char* user : {"daemon", "games"}) {
    const ProcessResult result = run_process(as(user, two_nodes({"--detach", "--again"})));
    ASSERT_EQ(result.exit_code, 0) << user << ": " << result.err;
  }
  EXPECT_TRUE(training(4)) << logs();
  expect_end();
  std::set<std::string> users;
  for (const auto& entry : std::filesystem::directory_iterator(lab.root() / "jobs")) {
    const Path file = entry.path() / "submission.json";
    users.insert(parse_json(read_file(file), file.string())["user"].get<std::string>());
    std::string log;
    for (const char* task : {"task-1.log", "task-2.log"}) log += read_file(entry.path() / task);
    EXPECT_THAT(log, HasSubstr(" is done: ")) << entry.path() << " ended no run";
  }
  EXPECT_THAT(users, ::testing::ElementsAre("daemon", "games"));
  expect_whole(on_this_machine({study.string(), steps}), "two users");
}

TEST_F(SlurmSharedLab, SlowAFullDiskStopsTheJobsAndCostsNothingElse) {
  if (run_process({"mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", lab.root().string()}).exit_code != 0)
    GTEST_SKIP() << "this machine does not let root mount a disk";
  mounted = true;
  lab.create();
  submit();
  ASSERT_TRUE(training(4));
  const Path filler = lab.root() / "filler";
  run_process({"dd", "if=/dev/zero", "of=" + filler.string(), "bs=4k"});
  EXPECT_EQ(std::filesystem::space(lab.root()).available, 0u);
  expect_end();
  const std::size_t before = ended();
  EXPECT_LT(before, 12u) << "the disk was full too late";
  std::filesystem::remove(filler);
  const ProcessResult again = mneme(sweep());
  EXPECT_EQ(again.exit_code, 0) << again.err << logs();
  std::printf("%zu runs had ended when the jobs left the full disk\n", before);
  expect_whole(on_this_machine({study.string(), steps}), "a full disk");
}

}  // namespace
}  // namespace mneme
