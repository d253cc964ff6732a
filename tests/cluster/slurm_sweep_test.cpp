// Sweeps by a real Slurm with several nodes on this machine: the share that runs always.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/slurm_cluster.h"
#include "store/postgres.h"

namespace mneme {
namespace {

using ::testing::HasSubstr;

constexpr const char* kStudy = R"(
title = "Eight short runs"
[task]
length = 8
pairs = 1
vocab = 16
[model]
mixer = ["attention", "rnn"]
width = 8
layers = 1
[train]
batch = 4
steps = 200
eval_examples = 8
test_examples = 8
lr = [1e-3, 1e6]
seed = [1, 2]
)";

class SlurmSweep : public testing::ClusterTest {
 protected:
  SlurmSweep() : ClusterTest(2) { write_file_atomically(study, kStudy); }

  Path study = sample.directory / "study.toml";
};

TEST_F(SlurmSweep, GivesTheTableOfOneMachineAndRefusesWrongUseBeforeItSubmits) {
  const auto refused = [&](const ProcessResult& result, int code, const char* text) {
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_TRUE(queue_empty());
    std::error_code missing;
    const std::filesystem::directory_iterator jobs(lab.root() / "jobs", missing);
    EXPECT_TRUE(missing || jobs == std::filesystem::directory_iterator()) << "it left something behind";
  };
  const std::vector<std::string> sweep{"sweep", study.string(), "--executor", "slurm", "--nodes", "2"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = sweep;
    all.insert(all.end(), more.begin(), more.end());
    return mneme(all);
  };
  store::PostgresConnection owner(database().address());
  for (const char* order : {"CREATE ROLE guest LOGIN", "REVOKE CREATE ON SCHEMA public FROM PUBLIC"})
    owner.execute(order);
  std::string guest = database().address();
  guest.replace(guest.find("user=mneme"), 10, "user=guest");
  refused(with({"--leases", guest}), 4, "this user may not create it");
  EXPECT_FALSE(std::filesystem::exists(lab.leases_id())) << "the lab is bound to a database that cannot be used";
  refused(with({"--partition", "mian"}), 2, "did you mean 'main'?");
  refused(with({"--sbatch", "--qos=nonsense --mem=900G"}), 2, "Slurm would refuse this job");
  refused(with({"--time", "soon"}), 2, "expected a time as Slurm writes it");
  refused(with({"--time", "0:01:00"}), 2, "expected at least twice");
  refused(with({"--leases", "postgresql:///nowhere?host=/nonexistent"}), 4, "cannot connect");
  refused(with({"--leases", "postgresql://me:secret@localhost/mneme"}), 2, "~/.pgpass");
  refused(mneme({"sweep", study.string(), "--nodes", "2"}), 2, "needs --executor slurm");
  std::vector<std::string> without_leases = mneme_arguments(sweep);
  without_leases.insert(without_leases.begin() + 1, {"-u", "MNEME_LEASES"});
  std::erase(without_leases, "MNEME_LEASES=" + database().address());
  refused(run_process(without_leases), 2, "2 nodes must share their leases");
  std::vector<std::string> without_slurm = mneme_arguments(sweep);
  without_slurm.insert(without_slurm.begin() + 1, "PATH=/nonexistent");
  refused(run_process(without_slurm), 4, "needs Slurm's commands on this machine");
  // Slurm has nodes on other machines, and the lab is on a disk of this one.
  std::filesystem::create_directories(sample.directory / "bin");
  write_file_atomically(sample.directory / "bin" / "sinfo", "#!/bin/sh\necho 'main|elsewhere7'\n");
  std::filesystem::permissions(sample.directory / "bin" / "sinfo", std::filesystem::perms::owner_all);
  std::vector<std::string> far_nodes = mneme_arguments(sweep);
  far_nodes.insert(far_nodes.begin() + 1, "PATH=" + (sample.directory / "bin").string() + ":/usr/bin:/bin");
  refused(run_process(far_nodes), 2, "which the node elsewhere7 cannot see");

  const ProcessResult script = with({"--dry-run", "--time", "4:00:00", "--partition", "main", "--account", "me",
                                     "--sbatch", "--comment=one", "--sbatch", "--nice=0 --hold"});
  EXPECT_EQ(script.exit_code, 0) << script.err;
  for (const char* line : {"#SBATCH --array=1-2\n", "#SBATCH --time=4:00:00\n", "#SBATCH --partition=main\n",
                           "#SBATCH --account=me\n", "#SBATCH --comment=one\n", "#SBATCH --nice=0 --hold\n",
                           "#SBATCH --signal=B:USR1@120\n", "#SBATCH --requeue\n", "exec "})
    EXPECT_THAT(script.out, HasSubstr(line));
  EXPECT_TRUE(queue_empty());

  const ProcessResult result = with({"--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err << logs();
  expect_whole(on_this_machine({study.string()}), "two nodes");
  EXPECT_THAT(status()["jobs"], ::testing::IsEmpty());
}

}  // namespace
}  // namespace mneme
