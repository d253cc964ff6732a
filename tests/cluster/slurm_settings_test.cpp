#include "cluster/slurm_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cluster/doctor.h"
#include "cluster/preflight.h"
#include "cluster/submission.h"
#include "store/sample_lab.h"
#include "support/expect_error.h"

namespace mneme::cluster {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SlurmTime, IsReadAsSlurmReadsIt) {
  EXPECT_EQ(parse_slurm_time("30", "t"), 1800);
  EXPECT_EQ(parse_slurm_time("30:15", "t"), 1815);
  EXPECT_EQ(parse_slurm_time("4:00:00", "t"), 14400);
  EXPECT_EQ(parse_slurm_time("1-12", "t"), 129600);
  EXPECT_EQ(parse_slurm_time("1-12:30", "t"), 131400);
  EXPECT_EQ(parse_slurm_time("2-00:00:01", "t"), 172801);
  for (const char* wrong : {"", "soon", "1:2:3:4", "-5", "1:-2", "4h"})
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { parse_slurm_time(wrong, "--time"); }), HasSubstr("as Slurm writes it"))
        << wrong;
}

class Settings : public ::testing::Test {
 protected:
  Settings() { ::setenv("XDG_CONFIG_HOME", (sample.directory / "config").c_str(), 1); }
  ~Settings() override { ::unsetenv("XDG_CONFIG_HOME"); }
  testing::SampleLab sample;
};

TEST_F(Settings, TheLabsFileGoesBeforeTheUsers) {
  EXPECT_EQ(load_slurm_settings(sample.lab).nodes, 1) << "no file says nothing";
  std::filesystem::create_directories(sample.directory / "config" / "mneme");
  write_file_atomically(sample.directory / "config" / "mneme" / "slurm.toml",
                        "partition = \"long\"\nnodes = 4\nsetup = [\"module load gcc\"]\n");
  write_file_atomically(sample.lab.root() / "slurm.toml", "nodes = 8\nworkers_per_node = 16\ntime = \"4:00:00\"\n");
  const SlurmSettings settings = load_slurm_settings(sample.lab);
  EXPECT_EQ(settings.partition, "long");
  EXPECT_EQ(settings.nodes, 8);
  EXPECT_EQ(settings.workers, 16);
  EXPECT_THAT(settings.setup, ::testing::ElementsAre("module load gcc"));
}

TEST_F(Settings, AWrongFileIsNamedWithItsLine) {
  write_file_atomically(sample.lab.root() / "slurm.toml", "nodes = 2\npartitoin = \"main\"\n");
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { load_slurm_settings(sample.lab); }),
              ::testing::AllOf(HasSubstr("slurm.toml:2:"), HasSubstr("did you mean 'partition'?")));
  write_file_atomically(sample.lab.root() / "slurm.toml", "nodes = 0\n");
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { load_slurm_settings(sample.lab); }), HasSubstr("slurm.toml:1:"));
}

TEST_F(Settings, ALabOfThisMachineIsRefusedForOtherMachines) {
  const std::vector<SlurmPartition> elsewhere{{"main", {"node001", "node002"}}};
  ASSERT_FALSE(disk_kind(sample.lab.root()).network) << "this test needs a local temporary directory";
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { check_shared(sample.lab, {}, elsewhere); }),
              ::testing::AllOf(HasSubstr("node001 cannot see"), HasSubstr("shared = true")));
  check_shared(sample.lab, {.shared = true}, elsewhere);
}

TEST_F(Settings, TheScriptHoldsNoPasswordAndQuotesItsPaths) {
  Submission submission;
  submission.place = "demo";
  submission.directory = "/lab/it's here/jobs/demo";
  submission.settings = {
      .nodes = 3, .workers = 8, .time = "1:00:00", .sbatch = {"--qos=low"}, .setup = {"module load x"}};
  const std::string script =
      job_script(submission, store::Lab("/lab/it's here", "postgresql://db/mneme"), "/opt/mneme/bin/mneme", 4000);
  EXPECT_THAT(script, HasSubstr("#SBATCH --array=1-3\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --cpus-per-task=8\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --mem=4000M\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --qos=low\n"));
  EXPECT_THAT(script, HasSubstr("export MNEME_LEASES='postgresql://db/mneme'\nmodule load x\nexec "));
  EXPECT_THAT(script, HasSubstr("'/lab/it'\\''s here/jobs/demo'"));
  EXPECT_THAT(
      error_of(ErrorKind::usage, [&] { check_leases(store::Lab(sample.lab.root(), "postgresql://a:b@db/mneme"), {}); }),
      ::testing::AllOf(HasSubstr("~/.pgpass"), Not(HasSubstr("a:b"))));
}

TEST(Doctor, FindsMountsWhoseLocksStayAtHome) {
  EXPECT_EQ(lock_trouble("nfs4", "rw,vers=4.2,local_lock=none"), "");
  EXPECT_EQ(lock_trouble("ext4", "rw"), "");
  EXPECT_EQ(lock_trouble("lustre", "rw,flock"), "");
  EXPECT_THAT(lock_trouble("nfs", "rw,nolock"), HasSubstr("nolock"));
  EXPECT_THAT(lock_trouble("nfs", "rw,local_lock=all"), HasSubstr("local_lock=all"));
  EXPECT_THAT(lock_trouble("lustre", "rw,localflock"), HasSubstr("without flock"));
}

TEST(Doctor, FindsThisMachinesDiskGoodAndLeavesNothing) {
  const testing::SampleLab sample;
  for (const Finding& finding : examine_disk(sample.lab.root()))
    EXPECT_NE(finding.verdict, Verdict::bad) << finding.subject << ": " << finding.text;
  for (const auto& entry : std::filesystem::directory_iterator(sample.lab.root()))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".doctor")) << entry.path();
}

TEST(Doctor, SaysWhatIsWrongWithADisk) {
  bool refused = false;
  for (const Finding& finding : examine_disk("/proc")) refused = refused || finding.verdict == Verdict::bad;
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace mneme::cluster
