#include "run/local_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "run/executor_testing.h"
#include "run/failure_record.h"
#include "store/leases.h"

namespace mneme::run {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::options;
using testing::our_children;
using testing::sample_run;
using testing::SampleLab;
using testing::seeds;
using testing::Watcher;

class LocalExecutor : public testing::ExecutorTest {};

// What must not depend on how a run was carried out.
Json deterministic_part(const store::RunDirectory& directory) {
  Json metrics = Json::array();
  for (const Json& metric : directory.metrics()) metrics.push_back({metric["step"], metric["split"], metric["values"]});
  return {{"metrics", metrics}, {"values", directory.summary().value()["values"]}};
}

TEST_F(LocalExecutor, RunsEverythingAndKeepsTheIndexUpToDate) {
  const auto runs = seeds(3);
  const ExecutionResult result = run(runs);
  ASSERT_EQ(result.runs.size(), 3u);
  EXPECT_EQ(result.count(store::RunState::done), 3u);
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(watcher.ends.size(), 3u);
  EXPECT_LE(watcher.slots, 2);  // a quick first worker may leave the second nothing to do
  EXPECT_GE(watcher.metrics, 3);
  EXPECT_THAT(watcher.notes, IsEmpty());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(result.runs[i].summary["id"], runs[i].id);
    EXPECT_EQ(index.find(runs[i].id)->state, store::RunState::done);
  }
  EXPECT_THAT(our_children(), IsEmpty());
}

TEST_F(LocalExecutor, WhatHasEndedIsNotRunAgain) {
  run(seeds(2));
  const ExecutionResult again = run(seeds(3));
  EXPECT_EQ(again.count(store::RunState::done), 3u);
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
  for (const config::RunConfig& one : runs) {
    const Json two_workers = deterministic_part(sample.lab.run(one.id));
    EXPECT_EQ(two_workers, deterministic_part(other.lab.run(one.id)));
    EXPECT_EQ(two_workers["values"]["weights_sha256"].get<std::string>().size(), 64u);
  }
}

TEST_F(LocalExecutor, TheLongestRunsComeFirst) {
  std::vector<config::RunConfig> runs;
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
  EXPECT_EQ(result.count(store::RunState::done), 2u);
  EXPECT_EQ(result.count(store::RunState::fresh), 1u);
  EXPECT_FALSE(result.interrupted);

  const auto longer = seeds(1, "train.steps=1000000");
  ExecutorOptions timed = options(1);
  timed.max_seconds = 5;  // a worker starts within a second, on a busy machine within three
  result = execute(longer, sample.lab, &index, timed, watcher);
  EXPECT_EQ(result.limit, "--max-time");
  EXPECT_EQ(result.runs[0].state, store::RunState::interrupted);
  EXPECT_GT(index.find(longer[0].id)->steps, 0) << "the checkpoint says how far it came";
  EXPECT_EQ(run(runs).count(store::RunState::done), 3u);
}

TEST_F(LocalExecutor, ACancelledRunEndsAndStaysSo) {
  const auto runs = seeds(2, "train.steps=1000000");
  const auto cancel = [&](const config::RunConfig& started) {
    const store::RunDirectory directory = sample.lab.run(started.id);
    const auto leases = store::open_leases(sample.lab, {.holder = "somebody"});
    const std::int64_t attempt = leases->seize(started.id, directory.attempt().number);
    EXPECT_EQ(record_ending(directory, started.id, attempt, {.outcome = "cancelled", .reason = "test"}), "");
    leases->release(started.id, attempt);
  };
  watcher.during = [&](const config::RunConfig& running, const RunProgress&) {
    if (sample.lab.run(running.id).state() == store::RunState::running) cancel(running);
  };
  const ExecutionResult result = run(runs, 1);
  EXPECT_EQ(result.count(store::RunState::cancelled), 2u);
  EXPECT_THAT(our_children(), IsEmpty());
}

TEST_F(LocalExecutor, CtrlCLeavesARunThatGoesOnToTheSameEnd) {
  const auto runs = seeds(2, "train.steps=3000");
  bool stopped = false;
  watcher.during = [&](const config::RunConfig&, const RunProgress& progress) {
    if (!stopped && progress.step > 10) stopped = ::raise(SIGINT) == 0;
  };
  const ExecutionResult result = run(runs, 1);
  ASSERT_TRUE(stopped);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(watcher.stops, 1);
  EXPECT_EQ(result.runs[0].state, store::RunState::interrupted);
  EXPECT_EQ(result.runs[1].state, store::RunState::fresh);
  EXPECT_EQ(sample.lab.run(runs[0].id).state(), store::RunState::interrupted);
  EXPECT_EQ(index.find(runs[0].id)->state, store::RunState::interrupted);
  EXPECT_THAT(our_children(), IsEmpty());

  watcher.first_steps.clear();
  EXPECT_EQ(run(runs, 1).count(store::RunState::done), 2u);
  EXPECT_GT(watcher.first_steps.at(0), 10);
  const SampleLab other;
  Watcher silent;
  execute(runs, other.lab, nullptr, options(1), silent);
  EXPECT_EQ(deterministic_part(sample.lab.run(runs[0].id)), deterministic_part(other.lab.run(runs[0].id)));
}

TEST_F(LocalExecutor, ASecondCtrlCStopsAtOnce) {
  // A stopped process does not answer SIGTERM: only the kill that follows can end it.
  bool stopped = false;
  watcher.start = [&](const config::RunConfig&) {
    ::kill(our_children().front(), SIGSTOP);
    stopped = ::raise(SIGINT) == 0;
  };
  int ticks = 0;
  watcher.tick = [&] {
    if (stopped && ++ticks == 3) ::raise(SIGINT);
  };
  const ExecutionResult result = run(seeds(1, "train.steps=1000000"), 1);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.runs[0].state, store::RunState::interrupted);
  EXPECT_THAT(our_children(), IsEmpty());
}

TEST_F(LocalExecutor, ARunThatAnotherProcessTrainsIsWaitedFor) {
  const auto runs = seeds(2);
  sample.lab.run(runs[0].id).create(runs[0].json());
  auto other = std::make_unique<store::RunWriter>(
      store::RunWriter::begin(sample.lab.run(runs[0].id), runs[0].json(), 0, "test"));
  bool other_ended = false;
  watcher.tick = [&] {
    // Only when everything else is done does the other process let go.
    if (std::find(watcher.ends.begin(), watcher.ends.end(), runs[1].id) == watcher.ends.end()) return;
    other_ended = other || other_ended;
    other.reset();
  };
  const ExecutionResult result = run(runs, 2);
  EXPECT_TRUE(other_ended);
  EXPECT_EQ(result.count(store::RunState::done), 2u);
  EXPECT_THAT(watcher.ends, ElementsAre(runs[1].id, runs[0].id));
  EXPECT_THAT(watcher.notes, ElementsAre(HasSubstr("running elsewhere")));
}

TEST_F(LocalExecutor, ARunThatAnotherProcessEndsIsTakenFromIt) {
  const auto runs = seeds(1);
  sample.lab.run(runs[0].id).create(runs[0].json());
  auto other = std::make_unique<store::RunWriter>(
      store::RunWriter::begin(sample.lab.run(runs[0].id), runs[0].json(), 0, "test"));
  int ticks = 0;
  watcher.tick = [&] {
    if (++ticks != 3) return;
    other->write_summary(testing::sample_summary(runs[0], "done", 1, 1));
    other.reset();
  };
  const ExecutionResult result = run(runs);
  EXPECT_EQ(result.count(store::RunState::done), 1u);
  EXPECT_TRUE(result.runs[0].elsewhere);
  EXPECT_THAT(watcher.starts, IsEmpty());
}

}  // namespace
}  // namespace mneme::run
