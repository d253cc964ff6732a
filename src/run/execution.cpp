#include "run/execution.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cstring>

#include "run/out_of_memory.h"
#include "run/worker.h"
#include "store/lease_holder.h"

namespace mneme::run {
namespace {

constexpr int kTickMilliseconds = 200;
constexpr const char* kMaxTime = "--max-time";

}  // namespace

Execution::Execution(std::span<const config::RunConfig> runs, const store::Lab& lab, store::Index* index,
                     const ExecutorOptions& options, ExecutionObserver& observer)
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
                 RunQueue::Listener{[this](std::size_t run, store::RunState state) { settle(-1, run, state, true); },
                                    [this](const std::string& note) { observer_.on_note(note); }});
}

ExecutionResult Execution::carry_out() {
  while (!finished()) {
    assign();
    wait();
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) attend(slot);
    if (const int signals = signals_.take(); signals > 0) stop(signals);
    if (!stopping_ && seconds_since(start_) > options_.max_seconds) end_of_time();
    observer_.on_tick();
  }
  look_around();
  if (fatal_) throw *fatal_;
  return std::move(result_);
}

bool Execution::finished() const {
  for (const WorkerSlot& slot : slots_)
    if (slot.run || (slot.process && stopping_)) return false;
  return !may_start() || queue_->empty();
}

// Runs that we waited for may have ended at other hands since we last looked.
void Execution::look_around() {
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (result_.runs[run].state != store::RunState::fresh) continue;
    const store::RunState state = queue_->state_of(run);
    if (state == store::RunState::done || state == store::RunState::diverged || state == store::RunState::cancelled)
      settle(-1, run, state, true);
  }
}

void Execution::assign() {
  for (WorkerSlot& slot : slots_) {
    if (!may_start() || !slot.free()) continue;
    if (!lease_for(slot)) break;
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

bool Execution::lease_for(WorkerSlot& slot) {
  try {
    slot.run = queue_->next();
  } catch (const store::DatabaseError& error) {
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
  const config::RunConfig& run = runs_[slot.run->run];
  Json request = {{"request", "run"},
                  {"id", run.id},
                  {"attempt", slot.run->attempt},
                  {"holder", store::our_holder()},
                  {"config", run.json},
                  {"directory", directory(slot.run->run).path().string()}};
  request.update(options_.request);
  slot.heard = Clock::now();
  slot.begun = false;
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

}  // namespace mneme::run
