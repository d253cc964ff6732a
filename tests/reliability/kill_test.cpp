// kill -9 at any instant: the run that goes on ends with the bytes of one that was never disturbed.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "core/random.h"
#include "store/sample_lab.h"
#include "support/slow.h"
#include "support/worker_process.h"

namespace mneme {
namespace {

using testing::deterministic_part;
using testing::sample_run;
using testing::SampleLab;
using testing::WorkerProcess;

// One small run of each; a checkpoint after every step makes most of their time a write.
const std::vector<std::string> kMixers = {"attention", "mamba", "lstm", "gla", "rwkv4"};

config::RunConfig run_of(const std::string& mixer) {
  return sample_run({"model.mixer=" + mixer, "model.width=16", "train.steps=60", "train.batch=4", "train.eval_every=5",
                     "model.embed_dropout=0.1", "train.examples=64"});
}

std::string undisturbed(const config::RunConfig& run) {
  const SampleLab sample;
  WorkerProcess worker(run, sample.lab.run(run.id));
  EXPECT_EQ(worker.wait_for_end(), 0) << worker.error_tail();
  return deterministic_part(sample.lab.run(run.id));
}

bool has_temporary(const Path& directory) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored))
    if (entry.path().extension() == ".tmp") return true;
  return false;
}

// The first file of an attempt: the run is being taken up.
void wait_for_file(const Path& file) {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!std::filesystem::exists(file) && std::chrono::steady_clock::now() < patience) {
  }
}

struct Tally {
  int kills = 0;
  int in_write = 0;     // a temporary file was left: the kill fell between its creation and its rename
  int in_recovery = 0;  // before the run had said that it started again
  int deepest = 0;      // kills in a row without a finished recovery
  int runs = 0;
};

// Kills the worker at a random instant; every other time at the first sight of a write after that instant.
void strike(WorkerProcess& worker, const store::RunDirectory& directory, Random& random, bool aim,
            std::uint32_t within) {
  std::this_thread::sleep_for(std::chrono::microseconds(random.below(within)));
  const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (aim && !has_temporary(directory.path()) && std::chrono::steady_clock::now() < patience) {
  }
  worker.signal(SIGKILL);
}

// Kills the run's workers until it has finished in spite of it, or `kills` are used up.
void torment(const config::RunConfig& run, const std::string& expected, std::uint64_t number, int most, Tally& tally) {
  const SampleLab sample;
  const store::RunDirectory directory = sample.lab.run(run.id);
  Random random(stream_key(7, "kills"), number);
  int depth = 0;
  bool finished = false;
  for (int kill = 0; kill < most && !finished; ++kill) {
    const std::int64_t attempt = directory.attempt().number + 1;
    WorkerProcess worker(run, directory);
    // Two thirds of the kills come while the run is being taken up again, which takes milliseconds.
    const bool recovering = kill > 0 && kill % 3 != 0;
    if (recovering)
      wait_for_file(directory.alive(attempt));
    else
      worker.wait_for("started");
    strike(worker, directory, random, !recovering && kill % 2 == 0, recovering ? 3000 : 40000);
    finished = worker.wait_for_end() == 0;
    if (finished) break;
    bool started = false;
    for (const Json& event : worker.events) started = started || event["event"] == "started";
    ++tally.kills;
    depth = started ? 1 : depth + 1;
    tally.in_recovery += started ? 0 : 1;
    tally.deepest = std::max(tally.deepest, depth);
    tally.in_write += has_temporary(directory.path()) ? 1 : 0;
  }
  WorkerProcess last(run, directory);
  EXPECT_EQ(last.wait_for_end(), 0) << last.error_tail();
  EXPECT_EQ(deterministic_part(directory), expected) << run.id << " " << number;
  EXPECT_FALSE(has_temporary(directory.path())) << "what a killed writer left was not swept up";
  ++tally.runs;
}

Tally torment_all(int kills, int per_run) {
  Tally tally;
  std::vector<config::RunConfig> runs;
  std::vector<std::string> expected;
  for (const std::string& mixer : kMixers) {
    runs.push_back(run_of(mixer));
    expected.push_back(undisturbed(runs.back()));
  }
  for (std::uint64_t number = 0; tally.kills < kills; ++number) {
    const std::size_t mixer = number % runs.size();
    torment(runs[mixer], expected[mixer], number, std::min(per_run, kills - tally.kills), tally);
    if (::testing::Test::HasFailure()) break;
  }
  std::printf("%d kills over %zu mixers and %d runs: %d inside a write (%.0f %%), %d while recovering, up to %d deep\n",
              tally.kills, kMixers.size(), tally.runs, tally.in_write, 100.0 * tally.in_write / tally.kills,
              tally.in_recovery, tally.deepest);
  return tally;
}

TEST(Kills, TwentyLeaveEveryRunBitwiseEqual) {
  const Tally tally = torment_all(20, 4);
  EXPECT_GE(tally.kills, 20);
  EXPECT_GT(tally.in_write, 0);
  EXPECT_GT(tally.in_recovery, 0);
}

TEST(Kills, SlowAThousandLeaveEveryRunBitwiseEqual) {
  MNEME_SLOW_TEST();
  const int kills = testing::slow_count(1000);
  const Tally tally = torment_all(kills, 6);
  EXPECT_GE(tally.kills, kills);
  EXPECT_GE(10 * tally.in_write, 3 * kills) << "at least 30 % should fall inside a checkpoint or commit";
  EXPECT_GE(tally.deepest, 3);
}

}  // namespace
}  // namespace mneme
