#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <utility>

#include "run/executor_testing.h"

namespace mneme::run {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::options;
using testing::our_children;
using testing::sample_run;
using testing::seeds;

class ExecutorTrouble : public testing::ExecutorTest {};

TEST_F(ExecutorTrouble, AKilledWorkerFailsItsRunAndTheOthersGoOn) {
  const auto runs = seeds(3, "train.steps=2000");
  bool killed = false;
  watcher.start = [&](const config::RunConfig& started) {
    if (started.id != runs[0].id || killed) return;
    killed = true;
    ::kill(our_children().front(), SIGKILL);
  };
  const ExecutionResult result = run(runs, 1);
  ASSERT_TRUE(killed);
  EXPECT_EQ(result.runs[0].state, store::RunState::failed);
  EXPECT_EQ(result.runs[0].reason, "the worker was killed by signal 9 (SIGKILL, out of memory?)");
  EXPECT_EQ(result.runs[0].kind, ErrorKind::runs_failed);
  EXPECT_EQ(result.count(store::RunState::done), 2u);
  EXPECT_EQ(index.find(runs[0].id)->state, store::RunState::failed);
  EXPECT_THAT(read_file(sample.lab.run(runs[0].id).path() / "log.txt"), HasSubstr("killed by signal 9"));

  const ExecutionResult again = run(runs, 1);
  EXPECT_EQ(again.count(store::RunState::done), 3u);
  EXPECT_THAT(watcher.starts, ElementsAre(runs[0].id));
}

TEST_F(ExecutorTrouble, AFailedRunIsTriedAsOftenAsAsked) {
  const auto runs = seeds(1, "train.steps=1000");
  int kills = 0;
  watcher.start = [&](const config::RunConfig&) {
    if (kills++ == 0) ::kill(our_children().front(), SIGKILL);
  };
  EXPECT_EQ(run(runs, 1, 2).count(store::RunState::done), 1u);
  EXPECT_EQ(kills, 2);
  EXPECT_THAT(watcher.notes, Contains(HasSubstr("trying again")));
}

// It was the words "out of memory" that decided this.
TEST_F(ExecutorTrouble, LackOfMemoryIsToldByItsNameAndNotByWords) {
  const auto runs = seeds(1);
  const Path asked = sample.directory / "asked";
  const auto times_tried = [&](const std::string& fields) {
    const Path script = sample.directory / "worker.sh";
    write_file_atomically(script, "#!/bin/sh\necho '{\"event\":\"ready\"}'\nwhile read -r request; do\n  echo >> '" +
                                      asked.string() + "'\n  echo '{\"event\":\"failed\",\"kind\":5," + fields +
                                      "}'\ndone\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    write_file_atomically(asked, "");
    const ExecutionResult result = execute(runs, sample.lab, &index, options(1, 3, script.c_str()), watcher);
    EXPECT_EQ(result.runs[0].state, store::RunState::failed);
    return read_file(asked).size();
  };
  EXPECT_EQ(times_tried(R"("message":"too large","shortage":"memory")"), 1u);
  EXPECT_EQ(times_tried(R"("message":"out of memory, says a stranger")"), 3u);
}

TEST_F(ExecutorTrouble, ARunThatKillsThreeWorkersIsSetAsideAndTheOthersFinish) {
  const auto runs = seeds(3, "train.steps=400");
  int kills = 0;
  watcher.start = [&](const config::RunConfig& started) {
    if (started.id != runs[1].id) return;
    ::kill(our_children().front(), SIGKILL);
    ++kills;
  };
  // Twice in one command, the third time in another: deaths are remembered with the run.
  ExecutionResult result = run(runs, 1, 2);
  EXPECT_EQ(result.runs[1].state, store::RunState::failed);
  EXPECT_FALSE(sample.lab.run(runs[1].id).set_aside());
  result = run(runs, 1, 5);
  EXPECT_EQ(kills, kMostDeaths);
  EXPECT_EQ(result.runs[1].state, store::RunState::failed);
  EXPECT_THAT(result.runs[1].reason, HasSubstr("set aside after killing 3 workers"));
  EXPECT_TRUE(sample.lab.run(runs[1].id).set_aside());
  EXPECT_EQ(result.count(store::RunState::done), 2u);
  result = run(runs, 1, 5);
  EXPECT_EQ(kills, kMostDeaths) << "it is not tried again by itself";
  EXPECT_TRUE(result.runs[1].elsewhere);
}

TEST_F(ExecutorTrouble, AWorkerThatHangsLosesItsRun) {
  const auto runs = seeds(1, "train.steps=400");
  bool stopped = false;
  watcher.start = [&](const config::RunConfig&) {
    if (!std::exchange(stopped, true)) ::kill(our_children().front(), SIGSTOP);
  };
  ExecutorOptions hasty = options(1, 2);
  hasty.lease = 2;
  const ExecutionResult result = execute(runs, sample.lab, &index, hasty, watcher);
  EXPECT_EQ(result.count(store::RunState::done), 1u);
  EXPECT_THAT(watcher.notes, Contains(HasSubstr("did not respond for 2 s")));
}

TEST_F(ExecutorTrouble, AWorkerStoppedBySomebodyElseIsReplaced) {
  const auto runs = seeds(1, "train.steps=3000");
  bool stopped = false;
  watcher.during = [&](const config::RunConfig&, const RunProgress& progress) {
    if (!stopped && progress.step > 10) stopped = ::kill(our_children().front(), SIGTERM) == 0;
  };
  const ExecutionResult result = run(runs, 1);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(result.count(store::RunState::done), 1u);
  EXPECT_THAT(watcher.notes, Contains(HasSubstr("resuming with another")));
  EXPECT_GT(watcher.first_steps.at(1), 10);
}

TEST_F(ExecutorTrouble, ARunDirectoryThatIsAFileFailsOnlyThatRun) {
  const auto runs = seeds(2);
  write_file_atomically(sample.lab.run(runs[0].id).path(), "in the way");
  const ExecutionResult result = run(runs);
  EXPECT_EQ(result.runs[0].state, store::RunState::failed);
  EXPECT_EQ(result.runs[0].kind, ErrorKind::io);
  EXPECT_THAT(result.runs[0].reason, HasSubstr("is a file, expected a run directory"));
  EXPECT_EQ(result.runs[1].state, store::RunState::done);
  EXPECT_EQ(read_file(sample.lab.run(runs[0].id).path()), "in the way");
}

TEST_F(ExecutorTrouble, ADamagedSummaryMeansThatTheRunIsTrainedAgain) {
  const auto runs = seeds(1);
  run(runs);
  write_file_atomically(sample.lab.run(runs[0].id).path() / "summary.json", "{\"outcome\": ");
  EXPECT_EQ(run(runs).count(store::RunState::done), 1u);
  EXPECT_THAT(watcher.starts, ElementsAre(runs[0].id));
  EXPECT_THAT(watcher.notes, Contains(HasSubstr("training it again")));
}

TEST_F(ExecutorTrouble, TroubleWithTheIndexIsTalkedAboutOnceAndStopsNothing) {
  store::Database(sample.lab.index()).execute("DROP TABLE runs");
  EXPECT_EQ(run(seeds(2)).count(store::RunState::done), 2u);
  EXPECT_THAT(watcher.notes, ElementsAre(HasSubstr("the index is out of date")));
}

TEST_F(ExecutorTrouble, AWorkerThatCannotStartIsAnErrorAndNoFailedRun) {
  const auto runs = seeds(1);
  for (const char* broken : {"/bin/false", "/nowhere/mneme-worker"}) {
    try {
      execute(runs, sample.lab, &index, options(1, 1, broken), watcher);
      ADD_FAILURE() << broken << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_THAT(error.what(), HasSubstr(broken));
    }
    EXPECT_EQ(sample.lab.run(runs[0].id).state(), store::RunState::fresh);
  }
}

TEST_F(ExecutorTrouble, AWorkerThatTalksNonsenseFailsItsRun) {
  const Path fake = sample.directory / "worker";
  write_file_atomically(
      fake, "#!/bin/sh\necho '{\"event\":\"ready\"}'\nread request\necho 'Segmentation fault'\nsleep 600\n");
  std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  const auto runs = seeds(1);
  sample.lab.run(runs[0].id).create(runs[0].json());
  const ExecutionResult result = execute(runs, sample.lab, &index, options(1, 1, fake), watcher);
  EXPECT_EQ(result.runs[0].state, store::RunState::failed);
}

TEST_F(ExecutorTrouble, AnEvaluationLongerThanTheLeaseKeepsTheRun) {
  // The same evaluation as the run's only one, to see how long it takes here.
  const std::vector<std::string> large{"train.steps=1", "train.eval_examples=160000", "train.test_examples=1"};
  const ExecutionResult undisturbed = run({sample_run(large)});
  ASSERT_EQ(undisturbed.count(store::RunState::done), 1u);
  const double evaluation = undisturbed.runs[0].summary["times"]["seconds"].get<double>();

  // Without a sign of life each of three workers would be taken for dead. With one, a machine that stalls for a
  // moment costs a worker or two.
  ExecutorOptions short_lease = options(1, 3);
  short_lease.lease = evaluation / 2;
  const std::vector<config::RunConfig> runs{sample_run({"train.seed=7", large[0], large[1], large[2]})};
  const ExecutionResult result = execute(runs, sample.lab, &index, short_lease, watcher);
  EXPECT_EQ(result.runs[0].state, store::RunState::done) << result.runs[0].reason;
  std::printf("an evaluation of %.1f s under a lease of %.1f s\n", evaluation, short_lease.lease);
}

}  // namespace
}  // namespace mneme::run
