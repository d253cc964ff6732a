// What workers say, how they die, and what that means for their runs.
#include <fmt/format.h>
#include <signal.h>

#include "core/code_identity.h"
#include "core/text.h"
#include "run/execution.h"
#include "run/failure_record.h"
#include "run/out_of_memory.h"
#include "run/worker.h"

namespace mneme::run {
namespace {

constexpr double kRecently = 0.4, kCheckPeriod = 1.0;  // seconds
// Workers that die before their first word say that the installation is broken, not the run.
constexpr int kStartFailures = 2;
// Somebody else keeps stopping this run's workers: beyond this it counts as failed.
constexpr int kStops = 3;

double number_in(const Json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string after_semicolon(const std::string& words) { return words.empty() ? "" : "; " + words; }

// Trouble that the same request would meet again.
bool is_final(ErrorKind kind, Shortage shortage) {
  return kind == ErrorKind::usage || kind == ErrorKind::data || kind == ErrorKind::mismatch ||
         shortage == Shortage::memory;
}

}  // namespace

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
  else if (!slot.finished)
    watch_over(slot);
  else if (Clock::now() >= ask_again_)
    finish(number);
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
  if (slot.begun && !staging_ && seconds_since(slot.checked) > kCheckPeriod && queue_->removed(*slot.run)) {
    // What it trains now can be written nowhere.
    slot.leaving = true;
    slot.process->kill_group();
    return start_over(slot);
  }
  if (seconds_since(slot.heard) < kRecently) ours = queue_->keep(*slot.run);
  // A run that was cancelled or taken over is seen here before its worker's next write.
  if (seconds_since(slot.checked) > kCheckPeriod) {
    slot.checked = Clock::now();
    ours = ours && queue_->still_ours(*slot.run);
  }
  if (ours) return;
  // Somebody else has it now and our worker's writes are refused: no use in going on.
  observer_.on_note(fmt::format("run {} was cancelled or leased by another command", runs_[slot.run->run].id));
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
    check_code(event);
    if (slot.run && !stopping_) give(slot);
    return;
  }
  if (!slot.run) return;
  const LeasedRun leased = *slot.run;
  const config::RunConfig& run = runs_[leased.run];
  if (kind == "started") {
    slot.begun = true;
    update_index(leased.run);
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
    queue_->watch(leased.run);
  } else if (kind == "removed") {
    start_over(slot);
  } else if (kind == "done") {
    finish(number);
  } else if (kind == "failed") {
    slot.run.reset();
    handle_failure(number, leased,
                   {.kind = static_cast<ErrorKind>(event.value("kind", 1)),
                    .reason = event.value("message", "no reason given"),
                    .shortage = shortage_named(event.value("shortage", ""))});
  }
}

// The worker has ended its run. What cannot be moved to the lab now stays in its place until it can.
void Execution::finish(std::size_t number) {
  WorkerSlot& slot = slots_[number];
  const LeasedRun leased = *slot.run;
  const store::RunState state = state_of(leased.run);
  const HandOver handed = hand_over(leased);
  slot.finished = handed == HandOver::later;
  if (slot.finished) return;
  slot.run.reset();
  if (handed == HandOver::lost) return queue_->watch(leased.run);
  queue_->release(leased);
  settle(static_cast<int>(number), leased.run, state, false);
}

// Two halves of different builds: the runs say what the worker is, and commands compare with what `mneme` is.
void Execution::check_code(const Json& ready) {
  const std::string code = ready.value("code", this_code().build);
  if (code == this_code().build || told_code_) return;
  told_code_ = true;
  observer_.on_note(fmt::format("{} is {}, this program is {}: build both", options_.worker.string(),
                                describe({ready.value("version", ""), code}), describe(this_code())));
}

void Execution::handle_death(std::size_t number, int exit_code) {
  const WorkerSlot slot = std::move(slots_[number]);
  slots_[number] = WorkerSlot{};
  if (!slot.ready && !stopping_ && ++start_failures_ >= kStartFailures)
    give_up(Error(ErrorKind::io, options_.worker.string(),
                  fmt::format("the worker {} before it was ready{}", describe_exit(exit_code),
                              after_semicolon(last_words(*slot.process)))));
  if (!slot.run) return;
  const std::size_t run = slot.run->run;
  const store::RunState state = state_of(run);
  if (state == store::RunState::done || state == store::RunState::diverged || state == store::RunState::cancelled) {
    if (hand_over(*slot.run) != HandOver::moved) return queue_->watch(run);
    queue_->release(*slot.run);
    return settle(static_cast<int>(number), run, state, false);
  }
  if (stopping_) {
    hand_over(*slot.run);
    queue_->release(*slot.run);
    return end(static_cast<int>(number), run,
               {.state = store::RunState::interrupted, .reason = "stopped", .summary = {}});
  }
  if (!slot.ready) return again(*slot.run);
  if (slot.stopped && ++stops_[run] < kStops) {
    observer_.on_note(fmt::format("run {}: its worker was stopped from outside; resuming with another", runs_[run].id));
    return again(*slot.run);
  }
  RunFailure failure{.kind = ErrorKind::runs_failed, .reason = "the worker " + describe_exit(exit_code), .death = true};
  if (slot.silent) failure.reason = fmt::format("the worker did not respond for {:g} s", options_.lease);
  if (exit_code == 128 + SIGKILL && kernel_kill_count() > slot.kernel_kills) {
    failure.reason = fmt::format("{}: killed by the operating system", kOutOfMemory);
    failure.shortage = Shortage::memory;
  }
  std::vector<std::string> log;
  for (const std::string& line : split(slot.process->error_tail(), '\n'))
    if (!line.empty()) log.push_back("worker: " + line);
  log.push_back(failure.reason);
  if (const std::int64_t deaths = record_death(directory(run), slot.run->attempt, log); deaths >= kMostDeaths) {
    failure.reason = fmt::format("set aside after killing {} workers; the last: {}", deaths, failure.reason);
    failures_[run] = options_.attempts;
  }
  handle_failure(number, *slot.run, failure);
}

void Execution::handle_failure(std::size_t slot, const LeasedRun& leased, const RunFailure& failure) {
  const std::size_t run = leased.run;
  const bool set_aside = failure.death && failures_[run] >= options_.attempts;
  if (failure.shortage == Shortage::disk) {
    result_.stopped = fmt::format("{} (run {})", failure.reason, runs_[run].id);
  } else if (!is_final(failure.kind, failure.shortage) && ++failures_[run] < options_.attempts && !stopping_) {
    observer_.on_note(fmt::format("run {} failed; trying again: {}", runs_[run].id, failure.reason));
    return again(leased);
  }
  if (const std::string trouble = record_ending(directory(run), runs_[run].id, leased.attempt,
                                                {.reason = failure.reason, .set_aside = set_aside});
      !trouble.empty())
    observer_.on_note(fmt::format("run {}: could not record its failure: {}", runs_[run].id, trouble));
  hand_over(leased);
  queue_->release(leased);
  end(static_cast<int>(slot), run,
      {.state = store::RunState::failed, .reason = failure.reason, .kind = failure.kind, .summary = {}});
}

void Execution::start_over(WorkerSlot& slot) {
  observer_.on_note(fmt::format("run {}: its directory was removed; starting again", runs_[slot.run->run].id));
  again(*slot.run);
  slot.run.reset();
}

void Execution::again(const LeasedRun& leased) {
  // It counts when it is started again.
  counted_[leased.run] = false;
  --started_;
  if (result_.limit == kMaxRuns) result_.limit.clear();
  hand_over(leased);
  queue_->put_back(leased);
}

// The run has a summary.
void Execution::settle(int slot, std::size_t run, store::RunState state, bool elsewhere) {
  Json summary = lab_.run(runs_[run].id).summary().value_or(Json::object());
  std::string reason = summary.value("reason", "");
  end(slot, run, {.state = state, .reason = std::move(reason), .elsewhere = elsewhere, .summary = std::move(summary)});
}

void Execution::end(int slot, std::size_t run, RunResult result) {
  if (slot >= 0) update_index(run);
  observer_.on_end(slot, runs_[run], result);
  result_.runs[run] = std::move(result);
}

void Execution::update_index(std::size_t run) {
  // A worker that was stopped before its first file leaves nothing to copy.
  const store::RunDirectory ours = lab_.run(runs_[run].id);
  if (!index_ || !std::filesystem::exists(ours.path() / "config.json")) return;
  try {
    index_->update(ours);
  } catch (const std::exception& error) {
    observer_.on_note(fmt::format(
        "the index is out of date ({}); runs continue, and the next command reads their directories", error.what()));
    index_ = nullptr;
  }
}

}  // namespace mneme::run
