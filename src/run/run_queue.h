// The runs that are still to be carried out, and the leases on them.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "store/lab.h"
#include "store/leases.h"

namespace mneme::run {

struct LeasedRun {
  std::size_t run = 0;  // number in the list
  std::int64_t attempt = 0;
};

class RunQueue {
 public:
  // What the queue tells: a run that needs no work because it has ended, and something worth knowing.
  struct Listener {
    std::function<void(std::size_t run, store::RunState state)> ended;
    std::function<void(const std::string& note)> note;
  };

  // `lease` in seconds. Sorts the runs: finished ones are reported, the others wait, the longest first.
  RunQueue(std::span<const config::RunConfig> runs, const store::Lab& lab, double lease, Listener listener);

  // Acquires the lease of the next free run; nothing if there is none now. Throws DatabaseError.
  std::optional<LeasedRun> next();
  // True if no run is waiting here and none is running elsewhere.
  bool empty() const { return waiting_.empty() && elsewhere_.empty(); }
  bool only_elsewhere() const { return waiting_.empty() && !elsewhere_.empty(); }

  // Extends the lease if that is due; false if it is lost.
  bool keep(const LeasedRun& leased);
  // False if the run's directory belongs to a newer attempt.
  bool still_ours(const LeasedRun& leased) const;
  // True if the directory of a run that was begun is gone: somebody deleted it.
  bool removed(const LeasedRun& leased) const;
  void release(const LeasedRun& leased);
  // Given back, to be tried again before the others.
  void put_back(const LeasedRun& leased);
  // Somebody else has it: wait for them.
  void watch(std::size_t run);

  // A summary that cannot be read does not say that the run has ended: it is trained again.
  store::RunState state_of(std::size_t run) const;

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<LeasedRun> acquire(std::size_t run);
  void look_elsewhere();

  std::span<const config::RunConfig> runs_;
  const store::Lab& lab_;
  double lease_;
  Listener listener_;
  std::unique_ptr<store::Leases> leases_;
  std::deque<std::size_t> waiting_;
  std::vector<std::size_t> elsewhere_;
  std::map<std::size_t, Clock::time_point> renewed_, seen_running_;
  Clock::time_point last_look_ = Clock::now();
};

}  // namespace mneme::run
