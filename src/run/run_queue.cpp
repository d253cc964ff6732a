#include "run/run_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "store/lease_holder.h"

namespace mneme::run {
namespace {

constexpr double kLookPeriod = 0.3;  // seconds between two looks at runs that others on this machine have
constexpr double kRetry = 3;         // seconds until a renewal that got no answer is tried again
// Renewed this often in a lease: one renewal may be late without harm.
constexpr double kRenewals = 4;

// A damaged attempt.json is the worker's to report: it fails that run and no other.
std::int64_t last_attempt(const store::RunDirectory& directory) {
  try {
    return directory.attempt().number;
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace

RunQueue::RunQueue(std::span<const config::RunConfig> runs, const store::Lab& lab, double lease,
                   std::string failed_since, Listener listener, const Cost& cost)
    : runs_(runs),
      lab_(lab),
      lease_(lease),
      failed_since_(std::move(failed_since)),
      listener_(std::move(listener)),
      leases_(store::open_leases(lab, {.holder = store::our_holder(), .seconds = lease})) {
  std::vector<std::size_t> missing;
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    const store::RunState state = state_of(run);
    if (has_ended(state, run))
      listener_.ended(run, state);
    else
      missing.push_back(run);
  }
  std::vector<double> costs(runs_.size());
  for (const std::size_t run : missing) costs[run] = cost ? cost(runs_[run]) : runs_[run].training_flops();
  std::stable_sort(missing.begin(), missing.end(), [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  waiting_.assign(missing.begin(), missing.end());
}

// What was leased and not handed out: who asked for it had no use for it after all.
RunQueue::~RunQueue() {
  for (const LeasedRun& leased : taken_) release(leased);
}

bool RunQueue::has_ended(store::RunState state, std::size_t run) const {
  switch (state) {
    case store::RunState::done:
    case store::RunState::diverged:
    case store::RunState::cancelled: return true;
    case store::RunState::failed: break;
    default: return false;
  }
  const auto summary = lab_.run(runs_[run].id).summary();
  if (!summary) return false;
  const std::string when = summary->value("times", Json::object()).value("finished_at", "");
  return summary->value("set_aside", false) || (!failed_since_.empty() && when >= failed_since_);
}

store::RunState RunQueue::state_of(std::size_t run) const {
  try {
    return lab_.run(runs_[run].id).state();
  } catch (const std::exception& error) {
    listener_.note(fmt::format("run {}: {}; training it again", runs_[run].id, error.what()));
    return store::RunState::fresh;
  }
}

std::optional<LeasedRun> RunQueue::next(std::size_t wanted) {
  const bool at_once = leases_->asks_at_once();
  const bool busy =
      at_once && std::any_of(waiting_.begin(), waiting_.end(), [&](std::size_t run) { return fits(run); });
  // With other work at hand, what a dead holder left behind is looked for less often; it then comes first, as it stood
  // before what still waits.
  const double period = !at_once ? kLookPeriod : busy ? lease_ / kRenewals : look_period(lease_, elsewhere_.size());
  if (!elsewhere_.empty() && Clock::now() - last_look_ > std::chrono::duration<double>(period)) look_elsewhere();
  while (!left_behind_.empty()) {
    const std::size_t run = left_behind_.front();
    left_behind_.pop_front();
    if (const auto leased = acquire(run)) return leased;
  }
  if (at_once) return acquire_any(std::max<std::size_t>(1, wanted));
  for (std::size_t place = 0; place < waiting_.size();) {
    const std::size_t run = waiting_[place];
    if (!fits(run)) {
      ++place;
      continue;
    }
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(place));
    if (const auto leased = acquire(run)) return leased;
  }
  return std::nullopt;
}

bool RunQueue::told_end(std::size_t run) {
  if (!std::filesystem::exists(lab_.run(runs_[run].id).path() / "summary.json")) return false;
  const store::RunState state = state_of(run);
  if (!has_ended(state, run)) return false;
  listener_.ended(run, state);
  return true;
}

// One question to the database about the next few runs, for all workers that are free.
std::optional<LeasedRun> RunQueue::acquire_any(std::size_t wanted) {
  while (!taken_.empty() || ask_for_some(wanted)) {
    const LeasedRun next = taken_.front();
    taken_.pop_front();
    try {
      if (const auto leased = checked(next.run, next.attempt)) return leased;
    } catch (const store::DatabaseError&) {
      // What nobody keeps expires, and is asked for again.
      waiting_.push_front(next.run);
      while (!taken_.empty()) {
        waiting_.push_front(taken_.back().run);
        taken_.pop_back();
      }
      throw;
    }
  }
  return std::nullopt;
}

// False if nothing is free now.
bool RunQueue::ask_for_some(std::size_t wanted) {
  for (;;) {
    std::map<std::string, std::size_t> named;
    std::vector<std::string> ids;
    const std::size_t size = question_.runs(wanted);
    for (auto run = waiting_.begin(); run != waiting_.end() && ids.size() < size;) {
      if (!fits(*run)) {
        ++run;
      } else if (told_end(*run)) {
        run = waiting_.erase(run);
      } else {
        ids.push_back(runs_[*run].id);
        named[ids.back()] = *run++;
      }
    }
    if (ids.empty()) return false;
    const store::Leases::First first = leases_->acquire_first(ids, wanted);
    question_.learn(first.held.size());
    std::set<std::size_t> gone;
    for (const std::string& id : first.held) {
      elsewhere_.push_back(named.at(id));
      gone.insert(elsewhere_.back());
    }
    for (const store::Lease& lease : first.leases) {
      taken_.push_back({named.at(lease.run), lease.attempt});
      gone.insert(taken_.back().run);
    }
    std::erase_if(waiting_, [&](std::size_t run) { return gone.contains(run); });
    if (!taken_.empty()) return true;
    if (first.held.empty()) return false;
  }
}

// A run whose lease cannot be asked for now goes on waiting.
std::optional<LeasedRun> RunQueue::acquire(std::size_t run) try {
  const store::RunDirectory directory = lab_.run(runs_[run].id);
  if (runs_elsewhere(run)) return std::nullopt;
  const store::RunState state = state_of(run);
  if (has_ended(state, run)) {
    listener_.ended(run, state);
    return std::nullopt;
  }
  if (const auto attempt = leases_->acquire(runs_[run].id, last_attempt(directory))) return checked(run, *attempt);
  elsewhere_.push_back(run);
  return std::nullopt;
} catch (const store::DatabaseError&) {
  waiting_.push_front(run);
  throw;
}

// A worker whose command died is writing its last checkpoint; one that hangs has a lease to show itself.
bool RunQueue::runs_elsewhere(std::size_t run) {
  if (state_of(run) != store::RunState::running) return false;
  const auto [seen, first] = seen_running_.try_emplace(run, Clock::now());
  if (!first && Clock::now() - seen->second >= std::chrono::duration<double>(lease_)) return false;
  if (first) listener_.note(fmt::format("run {} is running elsewhere; waiting for it", runs_[run].id));
  elsewhere_.push_back(run);
  return true;
}

// The lease is ours; is there anything to do?
std::optional<LeasedRun> RunQueue::checked(std::size_t run, std::int64_t attempt) {
  const store::RunDirectory directory = lab_.run(runs_[run].id);
  // It may have ended between the first look and the lease.
  const store::RunState state = state_of(run);
  if (has_ended(state, run)) {
    release({run, attempt});
    listener_.ended(run, state);
    return std::nullopt;
  }
  if (runs_elsewhere(run)) {
    release({run, attempt});
    return std::nullopt;
  }
  // A database that was recreated does not know the numbers that the directory has seen.
  if (const std::int64_t floor = last_attempt(directory); floor >= attempt) {
    release({run, attempt});
    const auto higher = leases_->acquire(runs_[run].id, floor);
    if (!higher) {
      elsewhere_.push_back(run);
      return std::nullopt;
    }
    attempt = *higher;
  }
  if (state == store::RunState::running)
    listener_.note(fmt::format("run {}: lease expired; taking over from an unresponsive worker", runs_[run].id));
  seen_running_.erase(run);
  kept_[run] = {attempt, Clock::now(), Clock::now()};
  return LeasedRun{run, attempt};
}

void RunQueue::look_elsewhere() {
  last_look_ = Clock::now();
  const std::vector<std::size_t> runs = std::exchange(elsewhere_, {});
  if (!leases_->asks_at_once()) {
    waiting_.insert(waiting_.end(), runs.begin(), runs.end());
    return;
  }
  std::map<std::string, store::Lease> live;
  try {
    for (store::Lease& lease : leases_->live()) live[lease.run] = std::move(lease);
  } catch (const store::DatabaseError&) {
    elsewhere_ = runs;
    throw;
  }
  for (const std::size_t run : runs) {
    const auto lease = live.find(runs_[run].id);
    if (lease == live.end()) {
      if (told_end(run)) continue;
      // Not to be asked for among others: a holder that died on this machine is seen in acquire() only.
      (fits(run) ? left_behind_ : waiting_).push_back(run);
      continue;
    }
    elsewhere_.push_back(run);
    Other& other = others_[run];
    const bool same = other.attempt == lease->second.attempt;
    other = {lease->second.attempt, lease->second.expires,
             same && (other.lives || lease->second.expires > other.expires)};
  }
}

bool RunQueue::nothing_for_us() const {
  const auto for_us = [&](std::size_t run) { return fits(run); };
  if (std::any_of(waiting_.begin(), waiting_.end(), for_us)) return false;
  if (!left_behind_.empty() || !taken_.empty()) return false;
  return std::none_of(elsewhere_.begin(), elsewhere_.end(), [&](std::size_t run) {
    const auto other = others_.find(run);
    return fits(run) && (other == others_.end() || !other->second.lives);
  });
}

bool RunQueue::any_unfit() const {
  return std::any_of(waiting_.begin(), waiting_.end(), [&](std::size_t run) { return !fits(run); });
}

bool RunQueue::keep(const LeasedRun& leased) {
  Kept& kept = kept_[leased.run];
  kept.attempt = leased.attempt;
  kept.heard = Clock::now();
  if (!kept.lost && Clock::now() - kept.renewed >= std::chrono::duration<double>(lease_ / kRenewals)) renew_due();
  return !kept.lost;
}

void RunQueue::renew_due() {
  const auto now = Clock::now();
  const auto seconds = [](double value) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
  };
  std::vector<store::Lease> due;
  for (const auto& [run, kept] : kept_)
    if (!kept.lost && now - kept.heard < seconds(lease_ / kRenewals / 2) &&
        now - kept.renewed >= seconds(lease_ / kRenewals / 2))
      due.push_back({runs_[run].id, kept.attempt, "", 0});
  std::vector<std::string> ours;
  // Not renewed is not lost: it is tried again soon.
  Clock::time_point renewed = now - seconds(lease_ / kRenewals) + seconds(std::min(kRetry, lease_ / kRenewals / 4));
  bool answered = false;
  try {
    ours = leases_->renew_all(due);
    answered = true;
    renewed = now;
  } catch (const store::DatabaseError&) {
  }
  for (auto& [run, kept] : kept_) {
    const std::string& id = runs_[run].id;
    if (std::none_of(due.begin(), due.end(), [&](const store::Lease& lease) { return lease.run == id; })) continue;
    kept.renewed = renewed;
    kept.lost = answered && std::find(ours.begin(), ours.end(), id) == ours.end();
  }
}

bool RunQueue::still_ours(const LeasedRun& leased) const {
  return last_attempt(lab_.run(runs_[leased.run].id)) <= leased.attempt;
}

bool RunQueue::removed(const LeasedRun& leased) const {
  return !std::filesystem::exists(lab_.run(runs_[leased.run].id).path());
}

void RunQueue::release(const LeasedRun& leased) {
  kept_.erase(leased.run);
  try {
    leases_->release(runs_[leased.run].id, leased.attempt);
  } catch (const store::DatabaseError& error) {
    listener_.note(
        fmt::format("run {}: could not release its lease, which will expire ({})", runs_[leased.run].id, error.what()));
  }
}

void RunQueue::put_back(const LeasedRun& leased) {
  release(leased);
  waiting_.push_front(leased.run);
}

void RunQueue::watch(std::size_t run) {
  kept_.erase(run);
  elsewhere_.push_back(run);
}

}  // namespace mneme::run
