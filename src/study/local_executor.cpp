#include "study/local_executor.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "core/subprocess.h"
#include "core/text.h"
#include "study/failure_record.h"
#include "study/out_of_memory.h"
#include "study/run_queue.h"
#include "study/stop_signals.h"
#include "study/worker.h"
#include "study/worker_slot.h"

namespace mneme {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kTickMilliseconds = 200;
constexpr double kRecently = 0.4, kCheckPeriod = 1.0;  // seconds
// Workers that die before their first word say that the installation is broken, not the run.
constexpr int kStartFailures = 2;
// Somebody else keeps stopping this run's workers: beyond this it counts as failed.
constexpr int kStops = 3;
constexpr const char* kMaxRuns = "--max-runs";
constexpr const char* kMaxTime = "--max-time";

double number_in(const Json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Trouble that the same request would meet again.
bool is_final(ErrorKind kind, std::string_view reason) {
  return kind == ErrorKind::usage || kind == ErrorKind::data || reason.starts_with(kOutOfMemory);
}

class Execution {
 public:
  Execution(std::span<const RunConfig> runs, const Lab& lab, Index* index, const ExecutorOptions& options,
            ExecutionObserver& observer)
      : runs_(runs),
        lab_(lab),
        index_(index),
        options_(options),
        observer_(observer),
        slots_(static_cast<std::size_t>(std::max(1, options.jobs))),
        failures_(runs.size()),
        stops_(runs.size()),
        counted_(runs.size()) {
    result_.runs.resize(runs.size());
    queue_.emplace(runs, lab, options.lease,
                   RunQueue::Listener{[this](std::size_t run, RunState state) { settle(-1, run, state, true); },
                                      [this](const std::string& note) { observer_.on_note(note); }});
  }

  ExecutionResult carry_out() {
    while (!finished()) {
      assign();
      wait();
      for (std::size_t slot = 0; slot < slots_.size(); ++slot) attend(slot);
      if (const int signals = signals_.take(); signals > 0) stop(signals);
      if (!stopping_ && seconds_since(start_) > options_.max_seconds) end_of_time();
      observer_.on_tick();
    }
    if (fatal_) throw *fatal_;
    return std::move(result_);
  }

 private:
  RunDirectory directory(std::size_t run) const { return lab_.run(runs_[run].id); }
  bool may_start() const { return !stopping_ && result_.stopped.empty() && started_ < options_.max_runs; }
  bool finished() const;
  void assign();
  bool claim_for(WorkerSlot& slot);
  void start_worker(WorkerSlot& slot);
  void give(WorkerSlot& slot);
  void wait();
  void attend(std::size_t slot);
  void handle(std::size_t slot, const Json& event);
  void watch_over(WorkerSlot& slot);
  void handle_death(std::size_t slot, int exit_code);
  void handle_failure(std::size_t slot, const ClaimedRun& run, ErrorKind kind, const std::string& reason, bool death);
  void again(const ClaimedRun& claimed);
  void settle(int slot, std::size_t run, RunState state, bool elsewhere);
  void end(int slot, std::size_t run, RunResult result);
  void stop(int signals);
  void end_of_time();
  void stop_workers(int signal);
  void give_up(const Error& error);
  void update_index(std::size_t run);

  std::span<const RunConfig> runs_;
  const Lab& lab_;
  Index* index_;
  const ExecutorOptions& options_;
  ExecutionObserver& observer_;
  StopSignals signals_;
  std::vector<WorkerSlot> slots_;
  std::vector<int> failures_, stops_;  // per run, in this command
  std::vector<bool> counted_;          // in started_
  std::optional<RunQueue> queue_;
  Clock::time_point start_ = Clock::now();
  std::int64_t started_ = 0;
  int start_failures_ = 0;
  bool stopping_ = false;
  std::optional<Error> fatal_;
  ExecutionResult result_;
};

bool Execution::finished() const {
  for (const WorkerSlot& slot : slots_)
    if (slot.run || (slot.process && stopping_)) return false;
  return !may_start() || queue_->empty();
}

void Execution::assign() {
  for (WorkerSlot& slot : slots_) {
    if (!may_start() || !slot.free()) continue;
    if (!claim_for(slot)) break;
    if (!slot.process) start_worker(slot);
    if (slot.ready) give(slot);
  }
  if (may_start() && !queue_->empty()) return;
  for (WorkerSlot& slot : slots_) {
    if (!slot.process || slot.leaving || slot.run) continue;
    slot.process->close_input();
    slot.leaving = true;
  }
}

bool Execution::claim_for(WorkerSlot& slot) {
  try {
    slot.run = queue_->next();
  } catch (const DatabaseError& error) {
    if (!error.full()) give_up(error);
    if (result_.stopped.empty()) result_.stopped = fmt::format("{}: {}", error.what(), std::strerror(ENOSPC));
  }
  if (!slot.run) return false;
  slot.heard = Clock::now();
  if (!counted_[slot.run->run] && ++started_ == options_.max_runs) result_.limit = kMaxRuns;
  counted_[slot.run->run] = true;
  return true;
}

void Execution::start_worker(WorkerSlot& slot) {
  try {
    slot.ready = slot.stopped = slot.leaving = slot.silent = false;
    slot.kernel_kills = kernel_kill_count();
    slot.process = std::make_unique<LineProcess>(worker_options(options_.worker));
  } catch (const Error& error) {
    again(*slot.run);
    slot.run.reset();
    give_up(error);
  }
}

void Execution::give(WorkerSlot& slot) {
  const RunConfig& run = runs_[slot.run->run];
  Json request = {
      {"request", "run"},       {"id", run.id},       {"attempt", slot.run->attempt},
      {"holder", our_holder()}, {"config", run.json}, {"directory", directory(slot.run->run).path().string()}};
  request.update(options_.request);
  slot.heard = Clock::now();
  // A worker that dies here is seen when its output ends.
  slot.process->send(request.dump());
}

void Execution::wait() {
  std::vector<pollfd> polls{{signals_.descriptor(), POLLIN, 0}};
  int timeout = kTickMilliseconds;
  for (const WorkerSlot& slot : slots_) {
    if (!slot.process) continue;
    polls.push_back({slot.process->output_descriptor(), POLLIN, 0});
    polls.push_back({slot.process->error_descriptor(), POLLIN, 0});
    // Its output has ended; the process itself is gone in a moment.
    if (slot.process->output_descriptor() < 0) timeout = 10;
  }
  ::poll(polls.data(), polls.size(), timeout);
}

void Execution::attend(std::size_t number) {
  WorkerSlot& slot = slots_[number];
  if (!slot.process) return;
  for (const std::string& line : slot.process->receive()) {
    slot.heard = Clock::now();
    try {
      handle(number, parse_event(line));
    } catch (const std::exception&) {
      // What it says can no longer be trusted; what it started may hold its output open.
      slot.leaving = true;
      slot.process->kill_group();
      break;
    }
  }
  if (const auto code = slot.process->exit_code())
    handle_death(number, *code);
  else
    watch_over(slot);
}

// The lease follows what the worker says: a worker that hangs loses its run.
void Execution::watch_over(WorkerSlot& slot) {
  if (!slot.run || !slot.ready) return;
  if (seconds_since(slot.heard) > options_.lease) {
    slot.silent = true;
    slot.process->kill_group();
    return;
  }
  bool ours = true;
  if (seconds_since(slot.heard) < kRecently) ours = queue_->keep(*slot.run);
  // A run that was cancelled or taken over is seen here before its worker's next write.
  if (seconds_since(slot.checked) > kCheckPeriod) {
    slot.checked = Clock::now();
    ours = ours && queue_->still_ours(*slot.run);
  }
  if (ours) return;
  // Somebody else has it now and our worker's writes are refused: no use in going on.
  observer_.on_note(fmt::format("run {} was cancelled or claimed by another command", runs_[slot.run->run].id));
  queue_->watch(slot.run->run);
  slot.run.reset();
  slot.leaving = true;
  slot.process->kill_group();
}

void Execution::handle(std::size_t number, const Json& event) {
  WorkerSlot& slot = slots_[number];
  const std::string kind = event["event"];
  if (kind == "ready") {
    slot.ready = true;
    start_failures_ = 0;
    if (slot.run && !stopping_) give(slot);
    return;
  }
  if (!slot.run) return;
  const ClaimedRun claimed = *slot.run;
  const RunConfig& run = runs_[claimed.run];
  if (kind == "started") {
    update_index(claimed.run);
    observer_.on_start(static_cast<int>(number), run, event.value("step", std::int64_t{0}));
  } else if (kind == "progress") {
    observer_.on_progress(
        static_cast<int>(number), run,
        {event.value("step", std::int64_t{0}), event.value("steps", std::int64_t{0}), number_in(event, "loss"),
         number_in(event, "accuracy"), number_in(event, "tokens_per_second")});
  } else if (kind == "metric") {
    observer_.on_metric(static_cast<int>(number), run, event);
  } else if (kind == "interrupted") {
    // Settled when the worker is gone: until then it may be writing.
    slot.stopped = true;
  } else if (kind == "lost") {
    slot.run.reset();
    observer_.on_note(fmt::format("run {}: {}", run.id, event.value("message", "")));
    queue_->watch(claimed.run);
  } else if (kind == "done") {
    slot.run.reset();
    queue_->release(claimed);
    settle(static_cast<int>(number), claimed.run, queue_->state_of(claimed.run), false);
  } else if (kind == "failed") {
    slot.run.reset();
    handle_failure(number, claimed, static_cast<ErrorKind>(event.value("kind", 1)),
                   event.value("message", "no reason given"), false);
  }
}

void Execution::handle_death(std::size_t number, int exit_code) {
  const WorkerSlot slot = std::move(slots_[number]);
  slots_[number] = WorkerSlot{};
  if (!slot.ready && !stopping_ && ++start_failures_ >= kStartFailures)
    give_up(Error(
        ErrorKind::io, options_.worker.string(),
        fmt::format("the worker {} before it was ready; {}", describe_exit(exit_code), last_words(*slot.process))));
  if (!slot.run) return;
  const std::size_t run = slot.run->run;
  const RunState state = queue_->state_of(run);
  if (state == RunState::done || state == RunState::diverged || state == RunState::cancelled) {
    queue_->release(*slot.run);
    return settle(static_cast<int>(number), run, state, false);
  }
  if (stopping_) {
    queue_->release(*slot.run);
    return end(static_cast<int>(number), run, {.state = RunState::interrupted, .reason = "stopped", .summary = {}});
  }
  if (!slot.ready) return again(*slot.run);
  if (slot.stopped && ++stops_[run] < kStops) {
    observer_.on_note(fmt::format("run {}: somebody stopped its worker; it goes on with another", runs_[run].id));
    return again(*slot.run);
  }
  std::string reason = "the worker " + describe_exit(exit_code);
  if (slot.silent) reason = fmt::format("the worker gave no sign of life for {:g} s", options_.lease);
  if (exit_code == 128 + SIGKILL && kernel_kill_count() > slot.kernel_kills)
    reason = fmt::format("{}: the kernel killed the worker", kOutOfMemory);
  std::vector<std::string> log;
  for (const std::string& line : split(slot.process->error_tail(), '\n'))
    if (!line.empty()) log.push_back("worker: " + line);
  log.push_back(reason);
  const std::int64_t deaths = record_death(directory(run), slot.run->attempt, log);
  if (deaths < kMostDeaths) return handle_failure(number, *slot.run, ErrorKind::runs_failed, reason, true);
  reason = fmt::format("set aside after killing {} workers; the last: {}", deaths, reason);
  failures_[run] = options_.attempts;
  handle_failure(number, *slot.run, ErrorKind::runs_failed, reason, true);
}

void Execution::handle_failure(std::size_t slot, const ClaimedRun& claimed, ErrorKind kind, const std::string& reason,
                               bool death) {
  const std::size_t run = claimed.run;
  const bool set_aside = death && failures_[run] >= options_.attempts;
  if (reason.find(std::strerror(ENOSPC)) != reason.npos) {
    result_.stopped = fmt::format("{} (run {})", reason, runs_[run].id);
  } else if (!is_final(kind, reason) && ++failures_[run] < options_.attempts && !stopping_) {
    observer_.on_note(fmt::format("run {} failed and is tried again: {}", runs_[run].id, reason));
    return again(claimed);
  }
  if (const std::string trouble =
          record_ending(directory(run), runs_[run].id, claimed.attempt, {.reason = reason, .set_aside = set_aside});
      !trouble.empty())
    observer_.on_note(fmt::format("run {}: its failure could not be written down: {}", runs_[run].id, trouble));
  queue_->release(claimed);
  end(static_cast<int>(slot), run, {.state = RunState::failed, .reason = reason, .kind = kind, .summary = {}});
}

void Execution::again(const ClaimedRun& claimed) {
  // It counts when it is started again.
  counted_[claimed.run] = false;
  --started_;
  if (result_.limit == kMaxRuns) result_.limit.clear();
  queue_->put_back(claimed);
}

// The run has a summary.
void Execution::settle(int slot, std::size_t run, RunState state, bool elsewhere) {
  Json summary = directory(run).summary().value_or(Json::object());
  std::string reason = summary.value("reason", "");
  end(slot, run, {.state = state, .reason = std::move(reason), .elsewhere = elsewhere, .summary = std::move(summary)});
}

void Execution::end(int slot, std::size_t run, RunResult result) {
  if (slot >= 0) update_index(run);
  observer_.on_end(slot, runs_[run], result);
  result_.runs[run] = std::move(result);
}

void Execution::stop(int signals) {
  if (!stopping_) {
    result_.interrupted = true;
    observer_.on_stopping();
    stop_workers(SIGTERM);
    --signals;
  }
  if (signals > 0) stop_workers(SIGKILL);
}

void Execution::end_of_time() {
  result_.limit = kMaxTime;
  observer_.on_stopping();
  stop_workers(SIGTERM);
}

void Execution::stop_workers(int signal) {
  stopping_ = true;
  for (WorkerSlot& slot : slots_)
    if (slot.process) slot.process->signal(signal);
}

void Execution::give_up(const Error& error) {
  if (!fatal_) fatal_ = error;
  stop_workers(SIGTERM);
}

void Execution::update_index(std::size_t run) {
  // A worker that was stopped before its first file leaves nothing to copy.
  if (!index_ || !std::filesystem::exists(directory(run).path() / "config.json")) return;
  try {
    index_->update(directory(run));
  } catch (const std::exception& error) {
    observer_.on_note(fmt::format(
        "the index is behind ({}); the runs go on, and the next command reads their directories", error.what()));
    index_ = nullptr;
  }
}

}  // namespace

std::size_t ExecutionResult::count(RunState state) const {
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [&](const RunResult& run) { return run.state == state; }));
}

ExecutionResult execute(std::span<const RunConfig> runs, const Lab& lab, Index* index, const ExecutorOptions& options,
                        ExecutionObserver& observer) {
  return Execution(runs, lab, index, options, observer).carry_out();
}

double work_of(const RunConfig& run) {
  // Backward is twice the work of forward.
  return 3.0 * run.forward_flops_per_example() * static_cast<double>(run.train.integer("batch")) *
         static_cast<double>(run.train.integer("steps"));
}

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

}  // namespace mneme
