#include "study/local_executor.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>

#include "core/subprocess.h"
#include "core/text.h"
#include "study/failure_record.h"
#include "study/stop_signals.h"
#include "study/worker.h"

namespace mneme {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kTickMilliseconds = 200;
constexpr auto kElsewherePeriod = std::chrono::milliseconds(500);
// Workers that die before their first word say that the installation is broken, not the run.
constexpr int kStartFailures = 2;
// Somebody else keeps stopping this run's workers: beyond this it counts as failed.
constexpr int kStops = 3;

double number_in(const Json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

struct Slot {
  std::unique_ptr<LineProcess> process;
  bool ready = false;
  bool stopped = false;            // it said `interrupted`
  bool leaving = false;            // its input is closed
  std::optional<std::size_t> run;  // what it works on

  bool idle() const { return process && ready && !run && !stopped && !leaving; }
  bool on_the_way() const { return process && !ready; }
};

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
        stops_(runs.size()) {
    result_.runs.resize(runs.size());
  }

  ExecutionResult carry_out() {
    for (std::size_t run = 0; run < runs_.size(); ++run) sort_in(run);
    while (!finished()) {
      assign();
      wait();
      for (std::size_t slot = 0; slot < slots_.size(); ++slot) attend(slot);
      if (const int signals = signals_.take(); signals > 0) stop(signals);
      if (!stopping_ && !elsewhere_.empty() && Clock::now() - last_look_ > kElsewherePeriod) look_elsewhere();
      observer_.on_tick();
    }
    if (fatal_) throw *fatal_;
    return std::move(result_);
  }

 private:
  RunDirectory directory(std::size_t run) const { return lab_.run(runs_[run].id); }
  RunState state_of(std::size_t run) const;
  void sort_in(std::size_t run);
  bool finished() const;
  void assign();
  void start_worker(Slot& slot);
  void give(std::size_t slot, std::size_t run);
  void wait();
  void attend(std::size_t slot);
  void handle(std::size_t slot, const Json& event);
  void handle_death(std::size_t slot, int exit_code);
  void fail(std::size_t slot, std::size_t run, ErrorKind kind, const std::string& reason);
  void settle(int slot, std::size_t run, RunState state, bool elsewhere);
  void end(int slot, std::size_t run, RunResult result);
  void look_elsewhere();
  void stop(int signals);
  void stop_workers(int signal);
  void give_up(const Error& error);
  void update_index(std::size_t run);

  std::span<const RunConfig> runs_;
  const Lab& lab_;
  Index* index_;
  const ExecutorOptions& options_;
  ExecutionObserver& observer_;
  StopSignals signals_;
  std::vector<Slot> slots_;
  std::deque<std::size_t> pending_;
  std::vector<std::size_t> elsewhere_;
  std::vector<int> failures_, stops_;  // per run
  Clock::time_point last_look_;
  int start_failures_ = 0;
  bool stopping_ = false;
  std::optional<Error> fatal_;
  ExecutionResult result_;
};

// A summary that cannot be read does not say that the run has ended: it is trained again.
RunState Execution::state_of(std::size_t run) const {
  try {
    return directory(run).state();
  } catch (const std::exception& error) {
    observer_.on_note(fmt::format("run {}: {}; training it again", runs_[run].id, error.what()));
    return RunState::fresh;
  }
}

void Execution::sort_in(std::size_t run) {
  switch (const RunState state = state_of(run)) {
    case RunState::done:
    case RunState::diverged: return settle(-1, run, state, true);
    case RunState::running:
      observer_.on_note(fmt::format("run {} is running elsewhere; waiting for it", runs_[run].id));
      return elsewhere_.push_back(run);
    case RunState::fresh:
    case RunState::interrupted:
    case RunState::failed: return pending_.push_back(run);
  }
}

bool Execution::finished() const {
  for (const Slot& slot : slots_)
    if (slot.process && (slot.run || stopping_)) return false;
  return stopping_ || !result_.stopped.empty() || (pending_.empty() && elsewhere_.empty());
}

void Execution::assign() {
  if (stopping_ || !result_.stopped.empty()) return;
  std::size_t on_the_way = 0;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].idle() && !pending_.empty()) {
      const std::size_t run = pending_.front();
      pending_.pop_front();
      give(slot, run);
    }
    on_the_way += slots_[slot].on_the_way() ? 1 : 0;
  }
  for (Slot& slot : slots_) {
    if (slot.idle()) {
      slot.process->close_input();
      slot.leaving = true;
    }
    if (slot.process || on_the_way >= pending_.size()) continue;
    start_worker(slot);
    ++on_the_way;
    if (stopping_) return;
  }
}

void Execution::start_worker(Slot& slot) {
  try {
    slot = Slot{};
    slot.process = std::make_unique<LineProcess>(worker_options(options_.worker));
  } catch (const Error& error) {
    give_up(error);
  }
}

void Execution::give(std::size_t slot, std::size_t run) {
  slots_[slot].run = run;
  // A worker that dies here is seen when its output ends.
  slots_[slot].process->send(Json{{"request", "run"},
                                  {"id", runs_[run].id},
                                  {"config", runs_[run].json},
                                  {"directory", directory(run).path().string()}}
                                 .dump());
}

void Execution::wait() {
  std::vector<pollfd> polls{{signals_.descriptor(), POLLIN, 0}};
  int timeout = kTickMilliseconds;
  for (const Slot& slot : slots_) {
    if (!slot.process) continue;
    polls.push_back({slot.process->output_descriptor(), POLLIN, 0});
    polls.push_back({slot.process->error_descriptor(), POLLIN, 0});
    // Its output has ended; the process itself is gone in a moment.
    if (slot.process->output_descriptor() < 0) timeout = 10;
  }
  ::poll(polls.data(), polls.size(), timeout);
}

void Execution::attend(std::size_t number) {
  Slot& slot = slots_[number];
  if (!slot.process) return;
  for (const std::string& line : slot.process->receive()) {
    try {
      handle(number, parse_event(line));
    } catch (const std::exception&) {
      // What it says can no longer be trusted.
      slot.process->signal(SIGKILL);
      return;
    }
  }
  if (const auto code = slot.process->exit_code()) handle_death(number, *code);
}

void Execution::handle(std::size_t number, const Json& event) {
  Slot& slot = slots_[number];
  const std::string kind = event["event"];
  if (kind == "ready") {
    slot.ready = true;
    start_failures_ = 0;
    return;
  }
  if (!slot.run) return;
  const RunConfig& run = runs_[*slot.run];
  if (kind == "started") {
    update_index(*slot.run);
    observer_.on_start(static_cast<int>(number), run, event.value("step", std::int64_t{0}));
  } else if (kind == "progress") {
    observer_.on_progress(
        static_cast<int>(number), run,
        {event.value("step", std::int64_t{0}), event.value("steps", std::int64_t{0}), number_in(event, "loss"),
         number_in(event, "accuracy"), number_in(event, "tokens_per_second")});
  } else if (kind == "metric") {
    observer_.on_metric(static_cast<int>(number), run, event);
  } else if (kind == "interrupted") {
    // Settled when the worker is gone: until then it holds the run's lock.
    slot.stopped = true;
  } else if (kind == "done") {
    settle(static_cast<int>(number), *slot.run, state_of(*slot.run), false);
    slot.run.reset();
  } else if (kind == "failed") {
    const std::size_t failed = *slot.run;
    slot.run.reset();
    fail(number, failed, static_cast<ErrorKind>(event.value("kind", 1)), event.value("message", "no reason given"));
  }
}

void Execution::handle_death(std::size_t number, int exit_code) {
  const Slot slot = std::move(slots_[number]);
  slots_[number] = Slot{};
  if (!slot.run) {
    if (!slot.ready && !stopping_ && ++start_failures_ >= kStartFailures)
      give_up(Error(
          ErrorKind::io, options_.worker.string(),
          fmt::format("the worker {} before it was ready; {}", describe_exit(exit_code), last_words(*slot.process))));
    return;
  }
  const std::size_t run = *slot.run;
  const RunState state = state_of(run);
  if (state == RunState::done || state == RunState::diverged)
    return settle(static_cast<int>(number), run, state, false);
  if (stopping_)
    return end(static_cast<int>(number), run, {.state = RunState::interrupted, .reason = "stopped", .summary = {}});
  if (slot.stopped && ++stops_[run] < kStops) {
    observer_.on_note(fmt::format("run {}: somebody stopped its worker; it goes on with another", runs_[run].id));
    return pending_.push_front(run);
  }
  for (const std::string& line : split(slot.process->error_tail(), '\n'))
    if (!line.empty()) directory(run).log("worker: " + line);
  fail(number, run, ErrorKind::runs_failed, "the worker " + describe_exit(exit_code));
}

void Execution::fail(std::size_t slot, std::size_t run, ErrorKind kind, const std::string& reason) {
  // Another process was faster to take the run: nothing has failed.
  if (state_of(run) == RunState::running) return sort_in(run);
  if (reason.find(std::strerror(ENOSPC)) != reason.npos) {
    result_.stopped = fmt::format("{} (run {})", reason, runs_[run].id);
  } else if (++failures_[run] < options_.attempts && !stopping_) {
    observer_.on_note(fmt::format("run {} failed and is tried again: {}", runs_[run].id, reason));
    return pending_.push_front(run);
  }
  if (const std::string trouble = record_failure(directory(run), runs_[run], reason); !trouble.empty())
    observer_.on_note(fmt::format("run {}: its failure could not be written down: {}", runs_[run].id, trouble));
  end(static_cast<int>(slot), run, {.state = RunState::failed, .reason = reason, .kind = kind, .summary = {}});
}

// The run has a summary: it is done or diverged.
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

void Execution::look_elsewhere() {
  last_look_ = Clock::now();
  std::vector<std::size_t> waiting;
  std::swap(waiting, elsewhere_);
  for (const std::size_t run : waiting) {
    if (state_of(run) == RunState::running)
      elsewhere_.push_back(run);
    else
      sort_in(run);
  }
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

void Execution::stop_workers(int signal) {
  stopping_ = true;
  for (const Slot& slot : slots_)
    if (slot.process) slot.process->signal(signal);
}

void Execution::give_up(const Error& error) {
  if (!fatal_) fatal_ = error;
  stop_workers(SIGTERM);
}

void Execution::update_index(std::size_t run) {
  if (!index_) return;
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

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

}  // namespace mneme
