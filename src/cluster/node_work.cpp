#include "cluster/node_work.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <thread>

#include "cluster/node_observer.h"
#include "cluster/requeue.h"
#include "cluster/slurm.h"
#include "cluster/time_left.h"
#include "core/error.h"
#include "run/stop_signals.h"
#include "run/worker.h"
#include "store/lease_holder.h"
#include "store/leases.h"

namespace mneme::cluster {
namespace {

using namespace std::chrono_literals;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Where this process runs.
struct Place {
  std::string job = our_job();
  std::string node = variable("SLURMD_NODENAME");
  int task = std::max(1, std::atoi(variable("SLURM_ARRAY_TASK_ID").c_str()));
};

TaskHistory this_start(const Submission& submission, int task) {
  TaskHistory history = earlier_history(submission, task);
  // Slurm counts every start, also after a node that died without a word.
  history.starts = std::max<std::int64_t>(history.starts, std::atoll(variable("SLURM_RESTART_COUNT").c_str())) + 1;
  return history;
}

// A database that is away when the job starts is waited for, as it would be later. False if the time is over first.
bool wait_for_database(const store::Lab& lab, double patience, NodeObserver& observer) {
  run::StopSignals signals(true);
  const auto start = std::chrono::steady_clock::now();
  for (bool told = false;; told = true) {
    try {
      store::open_leases(lab, {.holder = store::our_holder()});
      return true;
    } catch (const store::DatabaseError& error) {
      if (!error.away() || std::chrono::steady_clock::now() - start > std::chrono::duration<double>(patience)) throw;
      if (!told) observer.on_note(fmt::format("{}; waiting for it", error.what()));
    }
    std::this_thread::sleep_for(2s);
    if (signals.take() > 0 || signals.warned()) return false;
  }
}

bool any_missing(std::span<const config::RunConfig> runs, const store::Lab& lab) {
  return std::any_of(runs.begin(), runs.end(), [&](const config::RunConfig& run) {
    return !std::filesystem::exists(lab.run(run.id).path() / "summary.json");
  });
}

// The share of a run that is left changes only while somebody trains it, so it is not read at every question.
class Fitting {
 public:
  Fitting(const store::Lab& lab, TimeLeft time) : lab_(lab), time_(std::move(time)) {}

  bool operator()(const config::RunConfig& run) {
    const auto now = TimeLeft::Clock::now();
    // Most runs fit until the job's last hour, and a list may have thousands: their files are not opened for that.
    if (time_.fits_whole(run.id, now)) return true;
    auto& [share, read] = shares_[run.id];
    if (!read || now - *read > 30s) {
      share = share_left(run, lab_.run(run.id));
      read = now;
    }
    return time_.fits(run.id, share, now);
  }

 private:
  const store::Lab& lab_;
  TimeLeft time_;
  std::map<std::string, std::pair<double, std::optional<TimeLeft::Clock::time_point>>> shares_;
};

struct Worked {
  TaskEnd end;
  int exit_code = 0;
  std::string note;
};

Worked work(std::span<const config::RunConfig> runs, const Submission& submission, const store::Lab& lab, double lease,
            const Place& place, NodeObserver& observer) {
  run::ExecutorOptions options;
  options.jobs = static_cast<int>(submission.settings.workers);
  options.attempts = 3;
  options.lease = lease;
  options.on_node = true;
  options.worker = run::find_worker();
  options.stage = submission.settings.stage;
  options.failed_since = submission.submitted;
  options.fits = [&observer](const config::RunConfig&) { return !observer.superseded(); };
  Worked worked;
  if (!wait_for_database(lab, options.outage, observer)) {
    worked.end.ran_out = true;
    return worked;
  }
  const auto left = place.job.empty() ? std::nullopt : seconds_left(place.job);
  const std::map<std::string, double> seconds = whole_seconds(runs, lab, left.has_value());
  // Kinds of run differ in what they get out of a processor: seconds say more than operations do.
  if (seconds.size() == runs.size()) options.cost = [&](const config::RunConfig& run) { return seconds.at(run.id); };
  if (left) {
    const double usable = *left - static_cast<double>(submission.settings.warning);
    auto fitting = std::make_shared<Fitting>(lab, TimeLeft(usable, seconds));
    options.fits = [fitting, &observer](const config::RunConfig& run) {
      return !observer.superseded() && (*fitting)(run);
    };
    observer.on_note(fmt::format("{:.0f} s until workers leave", usable));
  }
  const run::ExecutionResult result = run::execute(runs, lab, nullptr, options, observer);
  worked.end.ran_out = result.limit == run::kTimeLimit || (result.unfit && !result.interrupted);
  worked.note = result.stopped;
  if (!result.stopped.empty())
    worked.exit_code = static_cast<int>(ErrorKind::io);
  else if (result.interrupted)
    worked.exit_code = static_cast<int>(ErrorKind::interrupted);
  else if (result.count(store::RunState::failed) > 0)
    worked.exit_code = static_cast<int>(ErrorKind::runs_failed);
  return worked;
}

}  // namespace

int work_on_node(const Submission& submission, const store::Lab& lab, double lease) {
  // The warning means something while runs are trained; before, it must not end the process.
  ::signal(SIGUSR1, SIG_IGN);
  const Place place;
  NodeObserver observer(submission, place.task, place.node, this_start(submission, place.task));
  observer.on_note(fmt::format("task {} of job {} on {}, start {}", place.task, submission.job, place.node,
                               observer.history().starts));
  observer.store("running", "");
  const std::vector<config::RunConfig> runs = read_runs(submission);
  Worked worked;
  try {
    worked = work(runs, submission, lab, lease, place, observer);
  } catch (const Error& error) {
    worked.end.broken = true;
    worked.exit_code = error.exit_code();
    worked.note = error.what();
    observer.on_note(error.what());
  }
  // From here on Slurm's signal to leave is expected: it comes with the requeue.
  run::StopSignals signals(true);
  worked.end.missing = any_missing(runs, lab);
  worked.end.progressed = observer.progressed();
  worked.end.cancelled = submission.cancelled();
  worked.end.ours = !place.job.empty();
  observer.store("running", "");  // looks whether the task's place is still ours
  worked.end.superseded = observer.superseded();
  const Requeue requeue = decide_requeue(observer.history(), worked.end, submission.settings.requeues);
  const std::string note = worked.note.empty() ? requeue.reason : worked.note;
  if (!requeue.wanted) {
    observer.store("left", note);
    observer.on_note("leaves: " + requeue.reason);
    return worked.exit_code;
  }
  observer.store("requeued", note);
  observer.on_note("asks Slurm to restart it: " + requeue.reason);
  if (!requeue_job(place.job)) {
    observer.store("left", "Slurm refused to restart it");
    observer.on_note("Slurm refused to restart it");
    return static_cast<int>(ErrorKind::io);
  }
  if (requeue.elsewhere && !avoid_node(place.job, place.node)) observer.on_note("Slurm refused to exclude this node");
  // A job that ends by itself now would be taken for finished.
  for (int second = 0; second < 60 && signals.take() == 0; ++second) std::this_thread::sleep_for(1s);
  return 0;
}

}  // namespace mneme::cluster
