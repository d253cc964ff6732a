// Sweeps by a real Slurm through what happens on clusters: dead nodes, a dead controller, a dead database, cancelling.
// Each counts: every planned run ends exactly once, with the results of an undisturbed sweep on one machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/slurm_trouble.h"

namespace mneme {
namespace {

using ::testing::HasSubstr;
using testing::SlurmTrouble;

TEST_F(SlurmTrouble, SlowANodeThatDiesCostsItsRunsOnlyTime) {
  submit();
  ASSERT_TRUE(training(4));
  const std::string node = node_of_a_job();
  const int killed = slurm().kill_node(node);
  EXPECT_GT(killed, 1);
  expect_end();
  std::printf("%d processes of %s killed\n", killed, node.c_str());
  expect_whole(on_this_machine({study.string(), steps}), "a dead node");
}

TEST_F(SlurmTrouble, SlowAControllerThatDiesIsNotNeededForTraining) {
  steps = "train.steps=30000";  // half a minute on an idle machine: longer than the controller is away
  submit();
  ASSERT_TRUE(training(4));
  slurm().await_saved_jobs();
  slurm().kill_controller(std::chrono::seconds(8));
  EXPECT_LT(ended(), 12u) << "all was trained while the controller was away";
  expect_end();
  expect_whole(on_this_machine({study.string(), steps}), "a dead controller");
}

TEST_F(SlurmTrouble, SlowADatabaseThatIsAwayStopsLeasingAndNothingElse) {
  submit();
  ASSERT_TRUE(training(4));
  const Path directory = database().directory();
  pid_t postmaster = 0;
  std::ifstream(directory / "data" / "postmaster.pid") >> postmaster;
  ::kill(postmaster, SIGQUIT);
  // Longer than three leases: what is trained stays with who trains it.
  std::this_thread::sleep_for(std::chrono::seconds(65));
  const std::size_t meanwhile = ended();
  const std::string programs = run_process({"bash", "-c", "ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1"}).out;
  std::vector<std::string> argv{split(programs, '\n').front() + "/postgres",
                                "-D",
                                (directory / "data").string(),
                                "-F",
                                "-c",
                                "listen_addresses=",
                                "-c",
                                "unix_socket_directories=" + directory.string()};
  if (::getuid() == 0)
    argv.insert(argv.begin(), {"setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"});
  LineProcess again({.argv = argv, .environment = {}, .own_group = true});
  expect_end();
  EXPECT_THAT(logs(), HasSubstr("no new ones are leased until it is back"));
  EXPECT_THAT(logs(), HasSubstr("is back after"));
  EXPECT_THAT(logs(), ::testing::Not(HasSubstr("leased by another command"))) << "a lease was lost over the outage";
  std::printf("%zu runs ended while the database was away\n", meanwhile);
  expect_whole(on_this_machine({study.string(), steps}), "a database that was away");
  again.signal(SIGQUIT);
}

TEST_F(SlurmTrouble, SlowCancellingJobsKeepsCheckpointsAndCancellingAStudyEndsItsRuns) {
  submit();
  ASSERT_TRUE(training(4));
  // A worker that has not trained a step yet has nothing to save.
  ASSERT_TRUE(wait_until([&] { return evaluated() >= 3; })) << logs();
  const ProcessResult jobs = mneme({"cancel", "--study", study.string(), "--jobs"});
  EXPECT_EQ(jobs.exit_code, 0) << jobs.err;
  EXPECT_THAT(jobs.out, HasSubstr("cancelled"));
  expect_end();
  std::size_t checkpoints = 0;
  for (const auto& entry : std::filesystem::directory_iterator(lab.runs()))
    checkpoints += std::filesystem::exists(entry.path() / "checkpoint.safetensors") &&
                           !std::filesystem::exists(entry.path() / "summary.json")
                       ? 1
                       : 0;
  EXPECT_GT(checkpoints, 0u) << logs();
  std::printf("%zu runs wait with a checkpoint\n", checkpoints);
  const ProcessResult again = mneme(sweep());
  EXPECT_EQ(again.exit_code, 0) << again.err << logs();
  expect_whole(on_this_machine({study.string(), steps}), "cancelled jobs, submitted again");

  // A study whose runs are cancelled: they end, once, and so do the jobs.
  steps = "train.steps=300000";
  write_file_atomically(study, std::string(testing::kTroubleStudy) + "steps = 300000\n");
  submit();
  ASSERT_TRUE(training(4));
  EXPECT_EQ(mneme({"cancel", "--study", study.string()}).exit_code, 0);
  expect_end();
  std::size_t cancelled = 0;
  for (const store::RunRecord& record : store::Index::open(lab).query())
    cancelled += record.state == store::RunState::cancelled ? 1 : 0;
  EXPECT_EQ(cancelled, 12u);
}

}  // namespace
}  // namespace mneme
