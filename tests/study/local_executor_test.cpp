#include "study/local_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "store/claims.h"
#include "store/sample_lab.h"
#include "study/failure_record.h"
#include "support/places.h"

namespace mneme {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::sample_run;
using testing::SampleLab;

const Path kWorker = binary_directory() + "/mneme-worker";

std::vector<pid_t> our_children() {
  std::ifstream file("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  std::vector<pid_t> children;
  for (pid_t child; file >> child;) children.push_back(child);
  return children;
}

// Remembers what it was told; a test hangs its own deeds on the events.
class Watcher : public ExecutionObserver {
 public:
  void on_start(int slot, const RunConfig& run, std::int64_t step) override {
    starts.push_back(run.id);
    first_steps.push_back(step);
    slots = std::max(slots, slot + 1);
    if (start) start(run);
  }
  void on_progress(int, const RunConfig& run, const RunProgress& progress) override {
    if (during) during(run, progress);
  }
  void on_metric(int, const RunConfig&, const Json&) override { ++metrics; }
  void on_end(int slot, const RunConfig& run, const RunResult&) override {
    (slot < 0 ? skips : ends).push_back(run.id);
  }
  void on_note(std::string_view note) override { notes.emplace_back(note); }
  void on_stopping() override { ++stops; }
  void on_tick() override {
    if (tick) tick();
  }

  std::vector<std::string> starts, ends, skips, notes;
  std::vector<std::int64_t> first_steps;
  int metrics = 0, slots = 0, stops = 0;
  std::function<void(const RunConfig&)> start;
  std::function<void(const RunConfig&, const RunProgress&)> during;
  std::function<void()> tick;
};

std::vector<RunConfig> seeds(int count, const std::string& steps = "train.steps=5") {
  std::vector<RunConfig> runs;
  for (int seed = 0; seed < count; ++seed) runs.push_back(sample_run({"train.seed=" + std::to_string(seed), steps}));
  return runs;
}

ExecutorOptions options(int jobs, int attempts = 1, const Path& worker = kWorker) {
  ExecutorOptions result;
  result.jobs = jobs;
  result.worker = worker;
  result.attempts = attempts;
  return result;
}

class LocalExecutor : public ::testing::Test {
 protected:
  ExecutionResult run(const std::vector<RunConfig>& runs, int jobs = 2, int attempts = 1) {
    watcher.starts.clear();
    watcher.ends.clear();
    watcher.skips.clear();
    return execute(runs, sample.lab, &index, options(jobs, attempts), watcher);
  }

  SampleLab sample;
  Index index = Index::open(sample.lab);
  Watcher watcher;
};

// What must not depend on how a run was carried out.
Json deterministic_part(const RunDirectory& directory) {
  Json metrics = Json::array();
  for (const Json& metric : directory.metrics()) metrics.push_back({metric["step"], metric["split"], metric["values"]});
  return {{"metrics", metrics}, {"values", directory.summary().value()["values"]}};
}

TEST_F(LocalExecutor, RunsEverythingAndKeepsTheIndexUpToDate) {
  const auto runs = seeds(3);
  const ExecutionResult result = run(runs);
  ASSERT_EQ(result.runs.size(), 3u);
  EXPECT_EQ(result.count(RunState::done), 3u);
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(watcher.ends.size(), 3u);
  EXPECT_LE(watcher.slots, 2);  // a quick first worker may leave the second nothing to do
  EXPECT_GE(watcher.metrics, 3);
  EXPECT_THAT(watcher.notes, IsEmpty());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(result.runs[i].summary["id"], runs[i].id);
    EXPECT_EQ(index.find(runs[i].id)->state, RunState::done);
  }
  EXPECT_THAT(our_children(), IsEmpty());
}

TEST_F(LocalExecutor, WhatHasEndedIsNotRunAgain) {
  run(seeds(2));
  const ExecutionResult again = run(seeds(3));
  EXPECT_EQ(again.count(RunState::done), 3u);
  EXPECT_EQ(watcher.skips.size(), 2u);
  EXPECT_THAT(watcher.starts, ElementsAre(seeds(3)[2].id));
  EXPECT_TRUE(again.runs[0].elsewhere);
  EXPECT_FALSE(again.runs[2].elsewhere);
}

TEST_F(LocalExecutor, OneWorkerOrTwoGiveTheSameBits) {
  const auto runs = seeds(3, "train.steps=20");
  run(runs, 2);
  const SampleLab other;
  Watcher silent;
  execute(runs, other.lab, nullptr, options(1), silent);
  for (const RunConfig& one : runs) {
    const Json two_workers = deterministic_part(sample.lab.run(one.id));
    EXPECT_EQ(two_workers, deterministic_part(other.lab.run(one.id)));
    EXPECT_EQ(two_workers["values"]["weights_sha256"].get<std::string>().size(), 64u);
  }
}

TEST_F(LocalExecutor, AKilledWorkerFailsItsRunAndTheOthersGoOn) {
  const auto runs = seeds(3, "train.steps=2000");
  bool killed = false;
  watcher.start = [&](const RunConfig& started) {
    if (started.id != runs[0].id || killed) return;
    killed = true;
    ::kill(our_children().front(), SIGKILL);
  };
  const ExecutionResult result = run(runs, 1);
  ASSERT_TRUE(killed);
  EXPECT_EQ(result.runs[0].state, RunState::failed);
  EXPECT_EQ(result.runs[0].reason, "the worker was killed by signal 9 (SIGKILL, out of memory?)");
  EXPECT_EQ(result.runs[0].kind, ErrorKind::runs_failed);
  EXPECT_EQ(result.count(RunState::done), 2u);
  EXPECT_EQ(index.find(runs[0].id)->state, RunState::failed);
  EXPECT_THAT(read_file(sample.lab.run(runs[0].id).path() / "log.txt"), HasSubstr("killed by signal 9"));

  const ExecutionResult again = run(runs, 1);
  EXPECT_EQ(again.count(RunState::done), 3u);
  EXPECT_THAT(watcher.starts, ElementsAre(runs[0].id));
}

TEST_F(LocalExecutor, AFailedRunIsTriedAsOftenAsAsked) {
  const auto runs = seeds(1, "train.steps=1000");
  int kills = 0;
  watcher.start = [&](const RunConfig&) {
    if (kills++ == 0) ::kill(our_children().front(), SIGKILL);
  };
  EXPECT_EQ(run(runs, 1, 2).count(RunState::done), 1u);
  EXPECT_EQ(kills, 2);
  EXPECT_THAT(watcher.notes, Contains(HasSubstr("tried again")));
}

TEST_F(LocalExecutor, ARunThatKillsThreeWorkersIsSetAsideAndTheOthersFinish) {
  const auto runs = seeds(3, "train.steps=400");
  int kills = 0;
  watcher.start = [&](const RunConfig& started) {
    if (started.id != runs[1].id) return;
    ::kill(our_children().front(), SIGKILL);
    ++kills;
  };
  // Twice in one command, the third time in another: deaths are remembered with the run.
  ExecutionResult result = run(runs, 1, 2);
  EXPECT_EQ(result.runs[1].state, RunState::failed);
  EXPECT_FALSE(sample.lab.run(runs[1].id).set_aside());
  result = run(runs, 1, 5);
  EXPECT_EQ(kills, kMostDeaths);
  EXPECT_EQ(result.runs[1].state, RunState::failed);
  EXPECT_THAT(result.runs[1].reason, HasSubstr("set aside after killing 3 workers"));
  EXPECT_TRUE(sample.lab.run(runs[1].id).set_aside());
  EXPECT_EQ(result.count(RunState::done), 2u);
  result = run(runs, 1, 5);
  EXPECT_EQ(kills, kMostDeaths) << "it is not tried again by itself";
  EXPECT_TRUE(result.runs[1].elsewhere);
}

TEST_F(LocalExecutor, AWorkerThatHangsLosesItsRun) {
  const auto runs = seeds(1, "train.steps=400");
  bool stopped = false;
  watcher.start = [&](const RunConfig&) {
    if (!std::exchange(stopped, true)) ::kill(our_children().front(), SIGSTOP);
  };
  ExecutorOptions hasty = options(1, 2);
  hasty.lease = 2;
  const ExecutionResult result = execute(runs, sample.lab, &index, hasty, watcher);
  EXPECT_EQ(result.count(RunState::done), 1u);
  EXPECT_THAT(watcher.notes, Contains(HasSubstr("no sign of life for 2 s")));
}

TEST_F(LocalExecutor, TheLongestRunsComeFirst) {
  std::vector<RunConfig> runs;
  for (const char* steps : {"train.steps=3", "train.steps=9", "train.steps=6"}) runs.push_back(sample_run({steps}));
  run(runs, 1);
  EXPECT_THAT(watcher.starts, ElementsAre(runs[1].id, runs[2].id, runs[0].id));
}

TEST_F(LocalExecutor, LimitsEndItEarlyAndTheRestIsRunLater) {
  const auto runs = seeds(3);
  ExecutorOptions limited = options(1);
  limited.max_runs = 2;
  ExecutionResult result = execute(runs, sample.lab, &index, limited, watcher);
  EXPECT_EQ(result.limit, "--max-runs");
  EXPECT_EQ(result.count(RunState::done), 2u);
  EXPECT_EQ(result.count(RunState::fresh), 1u);
  EXPECT_FALSE(result.interrupted);

  const auto longer = seeds(1, "train.steps=1000000");
  ExecutorOptions timed = options(1);
  timed.max_seconds = 2;
  result = execute(longer, sample.lab, &index, timed, watcher);
  EXPECT_EQ(result.limit, "--max-time");
  EXPECT_EQ(result.runs[0].state, RunState::interrupted);
  EXPECT_GT(index.find(longer[0].id)->steps, 0) << "the checkpoint says how far it came";
  EXPECT_EQ(run(runs).count(RunState::done), 3u);
}

TEST_F(LocalExecutor, ACancelledRunEndsAndStaysSo) {
  const auto runs = seeds(2, "train.steps=1000000");
  const auto cancel = [&](const RunConfig& started) {
    const RunDirectory directory = sample.lab.run(started.id);
    const auto claims = open_claims(sample.lab, {.holder = "somebody"});
    const std::int64_t attempt = claims->seize(started.id, directory.attempt().number);
    EXPECT_EQ(record_ending(directory, started.id, attempt, {.outcome = "cancelled", .reason = "test"}), "");
    claims->release(started.id, attempt);
  };
  watcher.during = [&](const RunConfig& running, const RunProgress&) {
    if (sample.lab.run(running.id).state() == RunState::running) cancel(running);
  };
  const ExecutionResult result = run(runs, 1);
  EXPECT_EQ(result.count(RunState::cancelled), 2u);
  EXPECT_THAT(our_children(), IsEmpty());
}

TEST_F(LocalExecutor, CtrlCLeavesARunThatGoesOnToTheSameEnd) {
  const auto runs = seeds(2, "train.steps=3000");
  bool stopped = false;
  watcher.during = [&](const RunConfig&, const RunProgress& progress) {
    if (!stopped && progress.step > 10) stopped = ::raise(SIGINT) == 0;
  };
  const ExecutionResult result = run(runs, 1);
  ASSERT_TRUE(stopped);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(watcher.stops, 1);
  EXPECT_EQ(result.runs[0].state, RunState::interrupted);
  EXPECT_EQ(result.runs[1].state, RunState::fresh);
  EXPECT_EQ(sample.lab.run(runs[0].id).state(), RunState::interrupted);
  EXPECT_EQ(index.find(runs[0].id)->state, RunState::interrupted);
  EXPECT_THAT(our_children(), IsEmpty());

  watcher.first_steps.clear();
  EXPECT_EQ(run(runs, 1).count(RunState::done), 2u);
  EXPECT_GT(watcher.first_steps.at(0), 10);
  const SampleLab other;
  Watcher silent;
  execute(runs, other.lab, nullptr, options(1), silent);
  EXPECT_EQ(deterministic_part(sample.lab.run(runs[0].id)), deterministic_part(other.lab.run(runs[0].id)));
}

TEST_F(LocalExecutor, ASecondCtrlCStopsAtOnce) {
  // A stopped process does not answer SIGTERM: only the kill that follows can end it.
  bool stopped = false;
  watcher.start = [&](const RunConfig&) {
    ::kill(our_children().front(), SIGSTOP);
    stopped = ::raise(SIGINT) == 0;
  };
  int ticks = 0;
  watcher.tick = [&] {
    if (stopped && ++ticks == 3) ::raise(SIGINT);
  };
  const ExecutionResult result = run(seeds(1, "train.steps=1000000"), 1);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.runs[0].state, RunState::interrupted);
  EXPECT_THAT(our_children(), IsEmpty());
}

TEST_F(LocalExecutor, AWorkerStoppedBySomebodyElseIsReplaced) {
  const auto runs = seeds(1, "train.steps=3000");
  bool stopped = false;
  watcher.during = [&](const RunConfig&, const RunProgress& progress) {
    if (!stopped && progress.step > 10) stopped = ::kill(our_children().front(), SIGTERM) == 0;
  };
  const ExecutionResult result = run(runs, 1);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(result.count(RunState::done), 1u);
  EXPECT_THAT(watcher.notes, Contains(HasSubstr("goes on with another")));
  EXPECT_GT(watcher.first_steps.at(1), 10);
}

TEST_F(LocalExecutor, ARunThatAnotherProcessTrainsIsWaitedFor) {
  const auto runs = seeds(2);
  sample.lab.run(runs[0].id).create(runs[0].json);
  auto other = std::make_unique<RunWriter>(RunWriter::begin(sample.lab.run(runs[0].id), runs[0].json, 0, "test"));
  bool other_ended = false;
  watcher.tick = [&] {
    // Only when everything else is done does the other process let go.
    if (std::find(watcher.ends.begin(), watcher.ends.end(), runs[1].id) == watcher.ends.end()) return;
    other_ended = other || other_ended;
    other.reset();
  };
  const ExecutionResult result = run(runs, 2);
  EXPECT_TRUE(other_ended);
  EXPECT_EQ(result.count(RunState::done), 2u);
  EXPECT_THAT(watcher.ends, ElementsAre(runs[1].id, runs[0].id));
  EXPECT_THAT(watcher.notes, ElementsAre(HasSubstr("running elsewhere")));
}

TEST_F(LocalExecutor, ARunThatAnotherProcessEndsIsTakenFromIt) {
  const auto runs = seeds(1);
  sample.lab.run(runs[0].id).create(runs[0].json);
  auto other = std::make_unique<RunWriter>(RunWriter::begin(sample.lab.run(runs[0].id), runs[0].json, 0, "test"));
  int ticks = 0;
  watcher.tick = [&] {
    if (++ticks != 3) return;
    other->write_summary(testing::sample_summary(runs[0], "done", 1, 1));
    other.reset();
  };
  const ExecutionResult result = run(runs);
  EXPECT_EQ(result.count(RunState::done), 1u);
  EXPECT_TRUE(result.runs[0].elsewhere);
  EXPECT_THAT(watcher.starts, IsEmpty());
}

TEST_F(LocalExecutor, ARunDirectoryThatIsAFileFailsOnlyThatRun) {
  const auto runs = seeds(2);
  write_file_atomically(sample.lab.run(runs[0].id).path(), "in the way");
  const ExecutionResult result = run(runs);
  EXPECT_EQ(result.runs[0].state, RunState::failed);
  EXPECT_EQ(result.runs[0].kind, ErrorKind::io);
  EXPECT_THAT(result.runs[0].reason, HasSubstr("is a file, expected a run directory"));
  EXPECT_EQ(result.runs[1].state, RunState::done);
  EXPECT_EQ(read_file(sample.lab.run(runs[0].id).path()), "in the way");
}

TEST_F(LocalExecutor, ADamagedSummaryMeansThatTheRunIsTrainedAgain) {
  const auto runs = seeds(1);
  run(runs);
  write_file_atomically(sample.lab.run(runs[0].id).path() / "summary.json", "{\"outcome\": ");
  EXPECT_EQ(run(runs).count(RunState::done), 1u);
  EXPECT_THAT(watcher.starts, ElementsAre(runs[0].id));
  EXPECT_THAT(watcher.notes, Contains(HasSubstr("training it again")));
}

TEST_F(LocalExecutor, TroubleWithTheIndexIsTalkedAboutOnceAndStopsNothing) {
  Database(sample.lab.index()).execute("DROP TABLE runs");
  EXPECT_EQ(run(seeds(2)).count(RunState::done), 2u);
  EXPECT_THAT(watcher.notes, ElementsAre(HasSubstr("the index is behind")));
}

TEST_F(LocalExecutor, AWorkerThatCannotStartIsAnErrorAndNoFailedRun) {
  const auto runs = seeds(1);
  for (const char* broken : {"/bin/false", "/nowhere/mneme-worker"}) {
    try {
      execute(runs, sample.lab, &index, options(1, 1, broken), watcher);
      ADD_FAILURE() << broken << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_THAT(error.what(), HasSubstr(broken));
    }
    EXPECT_EQ(sample.lab.run(runs[0].id).state(), RunState::fresh);
  }
}

TEST_F(LocalExecutor, AWorkerThatTalksNonsenseFailsItsRun) {
  const Path fake = sample.directory / "worker";
  write_file_atomically(
      fake, "#!/bin/sh\necho '{\"event\":\"ready\"}'\nread request\necho 'Segmentation fault'\nsleep 600\n");
  std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  const auto runs = seeds(1);
  sample.lab.run(runs[0].id).create(runs[0].json);
  const ExecutionResult result = execute(runs, sample.lab, &index, options(1, 1, fake), watcher);
  EXPECT_EQ(result.runs[0].state, RunState::failed);
}

TEST_F(LocalExecutor, AnEvaluationLongerThanTheLeaseKeepsTheRun) {
  // The same evaluation as the run's only one, to see how long it takes here.
  const std::vector<std::string> large{"train.steps=1", "train.eval_examples=40000", "train.test_examples=1"};
  const ExecutionResult undisturbed = run({sample_run(large)});
  ASSERT_EQ(undisturbed.count(RunState::done), 1u);
  const double evaluation = undisturbed.runs[0].summary["times"]["seconds"].get<double>();

  // Without a sign of life each of three workers would be taken for dead. With one, a machine that stands still for a
  // moment costs a worker or two.
  ExecutorOptions short_lease = options(1, 3);
  short_lease.lease = evaluation / 2;
  const std::vector<RunConfig> runs{sample_run({"train.seed=7", large[0], large[1], large[2]})};
  const ExecutionResult result = execute(runs, sample.lab, &index, short_lease, watcher);
  EXPECT_EQ(result.runs[0].state, RunState::done) << result.runs[0].reason;
  std::printf("an evaluation of %.1f s under a lease of %.1f s\n", evaluation, short_lease.lease);
}

}  // namespace
}  // namespace mneme
