// A worker that sleeps past its lease and wakes up cannot write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "core/random.h"
#include "store/sample_lab.h"
#include "support/expect_error.h"
#include "support/slow.h"
#include "support/worker_process.h"

namespace mneme {
namespace {

using testing::deterministic_part;
using testing::sample_run;
using testing::SampleLab;
using testing::WorkerProcess;

std::map<std::string, std::string> files_of(const store::RunDirectory& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    files[entry.path().filename().string()] = read_file(entry.path());
  return files;
}

struct Tally {
  int pauses = 0, refused = 0, ended_first = 0, held_the_lock = 0, stale_rows = 0;
};

// Pauses a worker somewhere in its training, lets another attempt begin, wakes the first one up and looks at every byte
// of the directory before and after.
void pause_once(std::uint64_t number, Tally& tally) {
  const config::RunConfig run =
      sample_run({"train.steps=100000", "train.eval_every=5", "train.eval_examples=4", "train.batch=512"});
  const SampleLab sample;
  const store::RunDirectory directory = sample.lab.run(run.id);
  Random random(stream_key(11, "pauses"), number);
  WorkerProcess sleeper(run, directory, 1);
  ASSERT_TRUE(sleeper.wait_for("started"));
  std::this_thread::sleep_for(std::chrono::microseconds(random.below(30000)));
  sleeper.signal(SIGSTOP);
  ++tally.pauses;
  std::map<std::string, std::string> before;
  try {
    const store::RunWriter next = store::RunWriter::begin(directory, run.json(), 2, "the next attempt");
    next.append_metric(
        {{"step", 1}, {"split", "validation"}, {"values", {{"accuracy", 0.5}}}, {"times", Json::object()}});
    before = files_of(directory);
    sleeper.signal(SIGCONT);
    sleeper.wait_for_end();
    if (files_of(directory) != before) ++tally.stale_rows;
  } catch (const Error& error) {
    // Paused in the middle of a write: it still has the lock, and nobody takes over before it is gone.
    EXPECT_THAT(error.what(), ::testing::HasSubstr("holds the directory's lock"));
    ++tally.held_the_lock;
    sleeper.signal(SIGKILL);
    sleeper.wait_for_end();
    return;
  }
  bool lost = false;
  for (const Json& event : sleeper.events) lost = lost || event["event"] == "lost";
  ++(lost ? tally.refused : tally.ended_first);
}

Tally pause(int pauses) {
  Tally tally;
  for (int number = 0; number < pauses; ++number) pause_once(static_cast<std::uint64_t>(number), tally);
  std::printf("%d pauses: %d sleepers refused when they woke, %d had the lock and kept everybody out, %d stale rows\n",
              tally.pauses, tally.refused, tally.held_the_lock, tally.stale_rows);
  return tally;
}

TEST(Pauses, AWokenWorkerIsRefused) {
  const Tally tally = pause(6);
  EXPECT_EQ(tally.stale_rows, 0);
  EXPECT_EQ(tally.ended_first, 0);
  EXPECT_GT(tally.refused, 0);
}

TEST(Pauses, SlowFiveHundredTimes) {
  MNEME_SLOW_TEST();
  const int pauses = testing::slow_count(500);
  const Tally tally = pause(pauses);
  EXPECT_EQ(tally.pauses, pauses);
  EXPECT_EQ(tally.stale_rows, 0);
  EXPECT_EQ(tally.ended_first, 0);
}

}  // namespace
}  // namespace mneme
