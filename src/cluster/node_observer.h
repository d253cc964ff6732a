// What a task of an array reports: lines in its log, and task-K.json for `mneme status`.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "cluster/requeue.h"
#include "cluster/submission.h"
#include "run/local_executor.h"

namespace mneme::cluster {

// What task-K.json remembers of the task's starts so far.
TaskHistory earlier_history(const Submission& submission, int task);

class NodeObserver : public run::ExecutionObserver {
 public:
  NodeObserver(const Submission& submission, int task, std::string node, TaskHistory history);

  void on_start(int slot, const config::RunConfig& run, std::int64_t step) override;
  void on_progress(int slot, const config::RunConfig& run, const run::RunProgress& progress) override;
  void on_metric(int, const config::RunConfig&, const Json&) override {}
  void on_end(int slot, const config::RunConfig& run, const run::RunResult& result) override;
  void on_note(std::string_view note) override;
  void on_stopping() override;
  void on_tick() override;

  // A run ended here, or was trained further than its last checkpoint.
  bool progressed() const { return progressed_; }
  TaskHistory& history() { return history_; }
  // True once task-K.json was seen to be a later start's: Slurm took this process for dead and started the task again.
  bool superseded() const { return superseded_; }
  // Writes task-K.json now, unless it is a later start's; trouble with it is a line in the log.
  void store(const std::string& state, const std::string& note);

 private:
  using Clock = std::chrono::steady_clock;
  struct Working {
    std::string run, mixer;
    double lr = 0;
    std::int64_t seed = 0, first = 0;
    run::RunProgress progress;
    double steps_per_second = 0, flops_per_step = 0;
  };
  void say(std::string_view line) const;

  const Submission& submission_;
  int task_;
  std::string node_;
  TaskHistory history_;
  std::map<int, Working> working_;
  std::map<std::string, std::int64_t> ended_;  // by state
  Clock::time_point stored_;
  bool progressed_ = false, superseded_ = false;
};

}  // namespace mneme::cluster
