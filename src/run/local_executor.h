// Carrying out runs with worker processes on this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"
#include "core/error.h"
#include "store/index.h"
#include "store/lab.h"

namespace mneme::run {

struct RunProgress {
  std::int64_t step = 0;
  std::int64_t steps = 0;
  double loss = std::numeric_limits<double>::quiet_NaN();
  double accuracy = std::numeric_limits<double>::quiet_NaN();
  double tokens_per_second = 0;
};

// What became of a run. `state` is done, diverged, failed or cancelled; interrupted (this command was stopped; the
// run resumes from its checkpoint, or from the start, with the next command); fresh: not reached.
struct RunResult {
  store::RunState state = store::RunState::fresh;
  std::string reason;
  ErrorKind kind = ErrorKind::runs_failed;  // of a failure
  bool elsewhere = false;                   // another command ended it, before or meanwhile
  Json summary;                             // of a run that has ended
};

// Told what happens, as it happens, on the calling thread. `slot` is the number of the worker, from 0.
class ExecutionObserver {
 public:
  virtual ~ExecutionObserver() = default;
  virtual void on_start(int slot, const config::RunConfig& run, std::int64_t step) = 0;
  virtual void on_progress(int slot, const config::RunConfig& run, const RunProgress& progress) = 0;
  virtual void on_metric(int slot, const config::RunConfig& run, const Json& metric) = 0;
  // slot is -1 for a run that no worker of ours had: ended earlier or elsewhere.
  virtual void on_end(int slot, const config::RunConfig& run, const RunResult& result) = 0;
  virtual void on_note(std::string_view note) = 0;
  virtual void on_stopping() = 0;  // workers are writing checkpoints
  virtual void on_tick() = 0;      // several times a second
};

struct ExecutorOptions {
  int jobs = 1;      // worker processes
  Path worker;       // find_worker()
  int attempts = 1;  // a run that fails is tried this often before it counts as failed
  // Seconds. A worker that says nothing for so long is taken for dead; so is a command that does not renew.
  double lease = 300;
  std::int64_t max_runs = std::numeric_limits<std::int64_t>::max();  // to start
  double max_seconds = std::numeric_limits<double>::infinity();
  // Seconds for which the lease database may be down: runs in progress continue, nothing is leased meanwhile.
  double outage = 3600;
  // On a node of a cluster: SIGUSR1 says that its time is nearly over, only the first SIGTERM counts (who sent it kills
  // by itself), and no worker waits for a run whose holder elsewhere was seen to be alive.
  bool on_node = false;
  Path stage = {};  // train in this directory and move whole runs to the lab (staging.h); empty: train in the lab
  // A run that failed after this time (UTC, as in summary.json) is not tried again: another node has tried. "": it is.
  std::string failed_since = {};
  std::function<bool(const config::RunConfig&)> fits = {};  // may be started now; empty: all may
  // What a run takes, for the order of their starts; empty: the operations of its training.
  std::function<double(const config::RunConfig&)> cost = {};
  Json request = Json::object();  // laid over every worker's request: tests of checkpoints use it
};

// ExecutionResult::limit when a node's time was nearly over.
inline constexpr const char* kTimeLimit = "the job's time limit";

// A run that has killed this many workers is set aside: failed, and not tried again until `mneme retry`.
inline constexpr std::int64_t kMostDeaths = 3;

struct ExecutionResult {
  std::vector<RunResult> runs;  // one per run, in the order given
  bool interrupted = false;
  std::string stopped;  // why no more runs were started: "", or a full disk
  std::string limit;    // the option that ended it early: "", "--max-runs", "--max-time", kTimeLimit
  bool unfit = false;   // runs were left that did not fit

  std::size_t count(store::RunState state) const;
};

// Runs what is missing, the longest first, so that workers finish together. A run that has ended is left alone (also a
// cancelled one, and one that was set aside), an interrupted one resumes, one that failed earlier is tried again.
// Each run is leased before it is trained (store/leases.h): several commands on one lab share the work, and a run
// that another one trains is waited for.
// A worker that dies fails its run and is replaced. Trouble with the index is a note, once; `index` may be
// null. Throws Error(io) if workers cannot be started at all, or leases not be written.
ExecutionResult execute(std::span<const config::RunConfig> runs, const store::Lab& lab, store::Index* index,
                        const ExecutorOptions& options, ExecutionObserver& observer);

// Processors that this process may use.
int available_processors();

}  // namespace mneme::run
