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
      staging_(options.stage.empty() ? nullptr : std::make_unique<Staging>(options.stage, lab)),
      signals_(options.on_node),
      slots_(static_cast<std::size_t>(std::max(1, options.jobs))),
      failures_(runs.size()),
      stops_(runs.size()),
      counted_(runs.size()) {
  result_.runs.resize(runs.size());
  queue_.emplace(runs, lab, options.lease, options.failed_since,
                 RunQueue::Listener{[this](std::size_t run, store::RunState state) { settle(-1, run, state, true); },
                                    [this](const std::string& note) { observer_.on_note(note); }},
                 options.cost);
  if (options.fits) queue_->choose([this](std::size_t run) { return options_.fits(runs_[run]); });
}

ExecutionResult Execution::carry_out() {
  while (!finished()) {
    assign();
    wait();
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) attend(slot);
    if (const int signals = signals_.take(); signals > 0) stop(signals);
    if (!stopping_ && signals_.warned()) end_of_time(kTimeLimit);
    if (!stopping_ && seconds_since(start_) > options_.max_seconds) end_of_time(kMaxTime);
    observer_.on_tick();
  }
  look_around();
  result_.unfit = queue_->any_unfit();
  if (fatal_) throw *fatal_;
  return std::move(result_);
}

bool Execution::finished() const {
  for (const WorkerSlot& slot : slots_)
    if (slot.run || (slot.process && stopping_)) return false;
  return !may_start() || nothing_to_do();
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
  if (may_start() && !nothing_to_do()) return;
  for (WorkerSlot& slot : slots_) {
    if (!slot.process || slot.leaving || slot.run) continue;
    slot.process->close_input();
    slot.leaving = true;
  }
}

bool Execution::lease_for(WorkerSlot& slot) {
  if (Clock::now() < ask_again_) return false;
  try {
    const auto free = std::count_if(slots_.begin(), slots_.end(), [](const WorkerSlot& one) { return one.free(); });
    slot.run = queue_->next(static_cast<std::size_t>(std::min<std::int64_t>(free, options_.max_runs - started_)));
    if (away_since_)
      observer_.on_note(fmt::format("the lease database is back after {:.0f} s", seconds_since(*away_since_)));
    away_since_.reset();
  } catch (const store::DatabaseError& error) {
    if (error.away()) return database_away(error), false;
    if (!error.full()) give_up(error);
    if (result_.stopped.empty()) result_.stopped = fmt::format("{}: {}", error.what(), std::strerror(ENOSPC));
  }
  if (!slot.run) return false;
  slot.heard = Clock::now();
  if (!counted_[slot.run->run] && ++started_ == options_.max_runs) result_.limit = kMaxRuns;
  counted_[slot.run->run] = true;
  return true;
}

void Execution::database_away(const Error& error) {
  constexpr auto kPause = std::chrono::seconds(3);
  ask_again_ = Clock::now() + kPause;
  if (!away_since_) {
    away_since_ = Clock::now();
    observer_.on_note(
        fmt::format("{}; runs in progress continue, and no new ones are leased until it is back", error.what()));
  } else if (seconds_since(*away_since_) > options_.outage) {
    give_up(error);
  }
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
  if (staging_) staging_->fetch(run.id);
  Json request = {{"request", "run"},
                  {"id", run.id},
                  {"attempt", slot.run->attempt},
                  {"holder", store::our_holder()},
                  {"config", run.json()},
                  {"directory", directory(slot.run->run).path().string()}};
  request.update(options_.request);
  slot.heard = Clock::now();
  slot.begun = false;
  // A worker that dies here is seen when its output ends.
  slot.process->send(request.dump());
}

store::RunState Execution::state_of(std::size_t run) const try {
  return staging_ ? directory(run).state() : queue_->state_of(run);
} catch (const Error&) {
  return store::RunState::fresh;
}

// Moves what was trained on this machine's disk to the lab.
Execution::HandOver Execution::hand_over(const LeasedRun& leased) try {
  if (!staging_) return HandOver::moved;
  const std::string& id = runs_[leased.run].id;
  if (staging_->publish(id, leased.attempt,
                        [&](const std::function<void()>& action) { return queue_->while_held(leased, action); }))
    return HandOver::moved;
  observer_.on_note(fmt::format("run {} was cancelled or leased by another command", id));
  return HandOver::lost;
} catch (const store::DatabaseError& error) {
  database_away(error);
  return HandOver::later;
} catch (const Error& error) {
  observer_.on_note(fmt::format("run {}: cannot be moved to the lab: {}", runs_[leased.run].id, error.what()));
  if (shortage_of(error) == Shortage::disk) result_.stopped = error.what();
  return HandOver::lost;
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
  if (signals > 0 && !on_node()) stop_workers(SIGKILL);
}

void Execution::end_of_time(const char* limit) {
  result_.limit = limit;
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
