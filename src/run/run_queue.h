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
#include "run/question_size.h"
#include "store/lab.h"
#include "store/leases.h"

namespace mneme::run {

struct LeasedRun {
  std::size_t run = 0;  // number in the list
  std::int64_t attempt = 0;
};

class RunQueue {
 public:
  // What the queue reports: a run that needs no work because it has ended, and something worth knowing.
  struct Listener {
    std::function<void(std::size_t run, store::RunState state)> ended;
    std::function<void(const std::string& note)> note;
  };

  using Cost = std::function<double(const config::RunConfig&)>;
  // `lease` in seconds; `failed_since` as in ExecutorOptions. Sorts every run in: ended ones are told, the others wait,
  // the longest first, by `cost` or else by the work of their training.
  RunQueue(std::span<const config::RunConfig> runs, const store::Lab& lab, double lease, std::string failed_since,
           Listener listener, const Cost& cost = {});
  ~RunQueue();
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  // Only runs that `fits` accepts are leased; called again every time, as it may depend on the time that is left.
  void choose(std::function<bool(std::size_t run)> fits) { fits_ = std::move(fits); }

  // Acquires the lease of the next free run; nothing if there is none now. `wanted` is how many are asked for now, this
  // one and by the next calls: a database gives them at once. Throws DatabaseError.
  std::optional<LeasedRun> next(std::size_t wanted = 1);
  // True if no run is waiting, here or for somebody else to end it.
  bool empty() const { return waiting_.empty() && elsewhere_.empty() && left_behind_.empty() && taken_.empty(); }
  // True if every run that waits does not fit, and every other is leased to somebody who has renewed it since we look.
  bool nothing_for_us() const;
  bool any_unfit() const;

  // To be called while the run's worker reports. Extends the lease if that is due, together with those of other workers
  // that report; false if it is lost.
  bool keep(const LeasedRun& leased);
  // False if the run's directory belongs to a newer attempt.
  bool still_ours(const LeasedRun& leased) const;
  // True if the directory of a run that was begun is gone: somebody deleted it.
  bool removed(const LeasedRun& leased) const;
  // Carries out an action while no one can take the run away; false if someone has. Throws DatabaseError.
  bool while_held(const LeasedRun& leased, const std::function<void()>& action) {
    return leases_->while_held(runs_[leased.run].id, leased.attempt, action);
  }
  void release(const LeasedRun& leased);
  // Given back, to be tried again before the others.
  void put_back(const LeasedRun& leased);
  // Somebody else has it: wait for them.
  void watch(std::size_t run);

  // A summary that cannot be read does not say that the run has ended: it is trained again.
  store::RunState state_of(std::size_t run) const;

 private:
  using Clock = std::chrono::steady_clock;
  // What is known of somebody else's lease.
  struct Other {
    std::int64_t attempt = 0;
    double expires = 0;
    bool lives = false;
  };

  bool has_ended(store::RunState state, std::size_t run) const;
  bool fits(std::size_t run) const { return !fits_ || fits_(run); }
  std::optional<LeasedRun> acquire(std::size_t run);
  std::optional<LeasedRun> acquire_any(std::size_t wanted);
  bool ask_for_some(std::size_t wanted);
  std::optional<LeasedRun> checked(std::size_t run, std::int64_t attempt);
  bool runs_elsewhere(std::size_t run);
  // True, and told, if the run has ended.
  bool told_end(std::size_t run);
  void look_elsewhere();
  void renew_due();

  std::span<const config::RunConfig> runs_;
  const store::Lab& lab_;
  double lease_;
  std::string failed_since_;
  Listener listener_;
  std::function<bool(std::size_t run)> fits_;
  std::unique_ptr<store::Leases> leases_;
  std::deque<std::size_t> waiting_;
  std::vector<std::size_t> elsewhere_;
  std::deque<std::size_t> left_behind_;  // by a holder that does not renew
  std::map<std::size_t, Other> others_;
  std::deque<LeasedRun> taken_;  // leased, and not handed out yet
  QuestionSize question_;

  // A lease of ours.
  struct Kept {
    std::int64_t attempt = 0;
    Clock::time_point renewed, heard;
    bool lost = false;
  };
  std::map<std::size_t, Kept> kept_;
  std::map<std::size_t, Clock::time_point> seen_running_;
  Clock::time_point last_look_ = Clock::now();
};

}  // namespace mneme::run
