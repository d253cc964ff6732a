#include "run/run_queue.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/lease_holder.h"

namespace mneme::run {
namespace {

constexpr auto kLookPeriod = std::chrono::milliseconds(300);
// Renewed this often in a lease: one renewal may be late without harm.
constexpr double kRenewals = 4;

bool has_ended(store::RunState state, const store::RunDirectory& directory) {
  switch (state) {
    case store::RunState::done:
    case store::RunState::diverged:
    case store::RunState::cancelled: return true;
    case store::RunState::failed: return directory.set_aside();
    default: return false;
  }
}

// A damaged attempt.json is the worker's to report: it fails that run and no other.
std::int64_t last_attempt(const store::RunDirectory& directory) {
  try {
    return directory.attempt().number;
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace

RunQueue::RunQueue(std::span<const config::RunConfig> runs, const store::Lab& lab, double lease, Listener listener)
    : runs_(runs),
      lab_(lab),
      lease_(lease),
      listener_(std::move(listener)),
      leases_(store::open_leases(lab, {.holder = store::our_holder(), .seconds = lease})) {
  std::vector<std::size_t> missing;
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    const store::RunState state = state_of(run);
    if (has_ended(state, lab_.run(runs_[run].id)))
      listener_.ended(run, state);
    else
      missing.push_back(run);
  }
  std::stable_sort(missing.begin(), missing.end(),
                   [&](std::size_t a, std::size_t b) { return runs_[a].training_flops() > runs_[b].training_flops(); });
  waiting_.assign(missing.begin(), missing.end());
}

store::RunState RunQueue::state_of(std::size_t run) const {
  try {
    return lab_.run(runs_[run].id).state();
  } catch (const std::exception& error) {
    listener_.note(fmt::format("run {}: {}; training it again", runs_[run].id, error.what()));
    return store::RunState::fresh;
  }
}

std::optional<LeasedRun> RunQueue::next() {
  if (!elsewhere_.empty() && Clock::now() - last_look_ > kLookPeriod) look_elsewhere();
  while (!waiting_.empty()) {
    const std::size_t run = waiting_.front();
    waiting_.pop_front();
    if (const auto leased = acquire(run)) return leased;
  }
  return std::nullopt;
}

std::optional<LeasedRun> RunQueue::acquire(std::size_t run) {
  const store::RunDirectory directory = lab_.run(runs_[run].id);
  store::RunState state = state_of(run);
  if (state == store::RunState::running) {
    // A worker whose command died is writing its last checkpoint; one that hangs has a lease to show itself.
    const auto [seen, first] = seen_running_.try_emplace(run, Clock::now());
    if (first || Clock::now() - seen->second < std::chrono::duration<double>(lease_)) {
      if (first) listener_.note(fmt::format("run {} is running elsewhere; waiting for it", runs_[run].id));
      elsewhere_.push_back(run);
      return std::nullopt;
    }
  }
  std::optional<std::int64_t> attempt;
  if (!has_ended(state, directory)) attempt = leases_->acquire(runs_[run].id, last_attempt(directory));
  // It may have ended between the first look and the lease.
  if (attempt) state = state_of(run);
  if (has_ended(state, directory)) {
    if (attempt) leases_->release(runs_[run].id, *attempt);
    listener_.ended(run, state);
    return std::nullopt;
  }
  if (!attempt) {
    elsewhere_.push_back(run);
    return std::nullopt;
  }
  if (state == store::RunState::running)
    listener_.note(fmt::format("run {}: lease expired; taking over from an unresponsive worker", runs_[run].id));
  seen_running_.erase(run);
  renewed_[run] = Clock::now();
  return LeasedRun{run, *attempt};
}

void RunQueue::look_elsewhere() {
  last_look_ = Clock::now();
  waiting_.insert(waiting_.end(), elsewhere_.begin(), elsewhere_.end());
  elsewhere_.clear();
}

bool RunQueue::keep(const LeasedRun& leased) {
  auto& renewed = renewed_[leased.run];
  if (Clock::now() - renewed < std::chrono::duration<double>(lease_ / kRenewals)) return true;
  renewed = Clock::now();
  try {
    return leases_->renew(runs_[leased.run].id, leased.attempt);
  } catch (const store::DatabaseError&) {
    // Not renewed is not lost; the next time is soon enough.
    return true;
  }
}

bool RunQueue::still_ours(const LeasedRun& leased) const {
  return last_attempt(lab_.run(runs_[leased.run].id)) <= leased.attempt;
}

bool RunQueue::removed(const LeasedRun& leased) const {
  return !std::filesystem::exists(lab_.run(runs_[leased.run].id).path());
}

void RunQueue::release(const LeasedRun& leased) {
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

void RunQueue::watch(std::size_t run) { elsewhere_.push_back(run); }

}  // namespace mneme::run
