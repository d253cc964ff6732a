// One execution of a list of runs (local_executor.h): which worker has which run, and what becomes of them.
//
// execution.cpp is the loop: runs are leased, given to workers and stopped. execution_events.cpp is what workers say
// and how they die.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/shortage.h"
#include "run/local_executor.h"
#include "run/run_queue.h"
#include "run/staging.h"
#include "run/stop_signals.h"
#include "run/worker_slot.h"

namespace mneme::run {

class Execution {
 public:
  Execution(std::span<const config::RunConfig> runs, const store::Lab& lab, store::Index* index,
            const ExecutorOptions& options, ExecutionObserver& observer);

  ExecutionResult carry_out();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr const char* kMaxRuns = "--max-runs";
  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  // Where the run is trained, and where it belongs.
  store::RunDirectory directory(std::size_t run) const {
    return staging_ ? staging_->directory(runs_[run].id) : lab_.run(runs_[run].id);
  }
  store::RunState state_of(std::size_t run) const;
  enum class HandOver { moved, lost, later };
  HandOver hand_over(const LeasedRun& leased);
  void finish(std::size_t slot);
  bool on_node() const { return options_.on_node; }
  bool nothing_to_do() const { return queue_->empty() || (on_node() && queue_->nothing_for_us()); }
  bool may_start() const { return !stopping_ && result_.stopped.empty() && started_ < options_.max_runs; }
  bool finished() const;
  void assign();
  void look_around();
  bool lease_for(WorkerSlot& slot);
  void database_away(const Error& error);
  void start_worker(WorkerSlot& slot);
  void give(WorkerSlot& slot);
  void wait();
  void attend(std::size_t slot);
  void handle(std::size_t slot, const Json& event);
  void check_code(const Json& ready);
  void watch_over(WorkerSlot& slot);
  void handle_death(std::size_t slot, int exit_code);
  struct RunFailure {
    ErrorKind kind = ErrorKind::internal;
    std::string reason;
    Shortage shortage = Shortage::none;
    bool death = false;  // of the worker
  };
  void handle_failure(std::size_t slot, const LeasedRun& run, const RunFailure& failure);
  void again(const LeasedRun& leased);
  void start_over(WorkerSlot& slot);
  void settle(int slot, std::size_t run, store::RunState state, bool elsewhere);
  void end(int slot, std::size_t run, RunResult result);
  void stop(int signals);
  void end_of_time(const char* limit);
  void stop_workers(int signal);
  void give_up(const Error& error);
  void update_index(std::size_t run);

  std::span<const config::RunConfig> runs_;
  const store::Lab& lab_;
  store::Index* index_;
  const ExecutorOptions& options_;
  ExecutionObserver& observer_;
  std::unique_ptr<Staging> staging_;
  StopSignals signals_;
  std::vector<WorkerSlot> slots_;
  std::vector<int> failures_, stops_;  // per run, in this command
  std::vector<bool> counted_;          // in started_
  std::optional<RunQueue> queue_;
  Clock::time_point start_ = Clock::now();
  std::int64_t started_ = 0;
  int start_failures_ = 0;
  std::optional<Clock::time_point> away_since_;  // the database of leases
  Clock::time_point ask_again_ = start_;
  bool stopping_ = false;
  bool told_code_ = false;
  std::optional<Error> fatal_;
  ExecutionResult result_;
};

}  // namespace mneme::run
