// What the tests of the executor share: workers on a lab of its own, and an observer that tests hang their deeds on.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "run/local_executor.h"
#include "store/sample_lab.h"
#include "support/places.h"

namespace mneme::testing {

inline const Path kWorker = binary_directory() + "/mneme-worker";

inline std::vector<pid_t> our_children() {
  std::ifstream file("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  std::vector<pid_t> children;
  for (pid_t child; file >> child;) children.push_back(child);
  return children;
}

// Remembers what it was told; a test hangs its own deeds on the events.
class Watcher : public run::ExecutionObserver {
 public:
  void on_start(int slot, const config::RunConfig& run, std::int64_t step) override {
    starts.push_back(run.id);
    first_steps.push_back(step);
    slots = std::max(slots, slot + 1);
    if (start) start(run);
  }
  void on_progress(int, const config::RunConfig& run, const run::RunProgress& progress) override {
    if (during) during(run, progress);
  }
  void on_metric(int, const config::RunConfig&, const Json&) override { ++metrics; }
  void on_end(int slot, const config::RunConfig& run, const run::RunResult&) override {
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
  std::function<void(const config::RunConfig&)> start;
  std::function<void(const config::RunConfig&, const run::RunProgress&)> during;
  std::function<void()> tick;
};

inline std::vector<config::RunConfig> seeds(int count, const std::string& steps = "train.steps=5") {
  std::vector<config::RunConfig> runs;
  for (int seed = 0; seed < count; ++seed) runs.push_back(sample_run({"train.seed=" + std::to_string(seed), steps}));
  return runs;
}

inline run::ExecutorOptions options(int jobs, int attempts = 1, const Path& worker = kWorker) {
  run::ExecutorOptions result;
  result.jobs = jobs;
  result.worker = worker;
  result.attempts = attempts;
  return result;
}

class ExecutorTest : public ::testing::Test {
 protected:
  run::ExecutionResult run(const std::vector<config::RunConfig>& runs, int jobs = 2, int attempts = 1) {
    watcher.starts.clear();
    watcher.ends.clear();
    watcher.skips.clear();
    return run::execute(runs, sample.lab, &index, options(jobs, attempts), watcher);
  }

  SampleLab sample;
  store::Index index = store::Index::open(sample.lab);
  Watcher watcher;
};

}  // namespace mneme::testing
