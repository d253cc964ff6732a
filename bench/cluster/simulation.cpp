#include "cluster/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <random>

#include "store/leases_postgres.h"

namespace mneme::bench {
namespace {

constexpr std::size_t kAskedAtOnce = 32;
constexpr double kRenewals = 4, kLookPeriod = 5;

struct Run {
  double left = 0;
  std::int64_t attempt = 0;
  std::size_t node = 0;
  double started = 0, died = 0;  // when it was leased, and when its node died
  bool held = false, ended = false, left_behind = false;
};

struct Node {
  std::unique_ptr<store::Leases> leases;
  std::vector<std::size_t> asked;      // waiting, in the order of the list
  std::size_t next = 0;                // of the list, not yet among them
  std::map<std::size_t, double> kept;  // run -> when its lease was last renewed
  std::int64_t free = 0;
  std::int64_t life = 0;  // counts its deaths: what was meant for an earlier life is forgotten
  bool alive = true, looking = false;
  double looks_since = 0;
};

struct Event {
  double time = 0;
  enum Kind { ask, end, renew, look, expire, death, back } kind = ask;
  std::size_t node = 0, run = 0;
  std::int64_t mark = 0;  // life of the node, or attempt of the run
  double since = 0;       // when the worker became free
  bool operator<(const Event& other) const { return time > other.time; }
};

class Simulation {
 public:
  Simulation(const std::vector<double>& seconds, const Cluster& cluster, const std::string& address)
      : cluster_(cluster), direct_(address) {
    const auto nodes =
        static_cast<std::size_t>((cluster.workers + cluster.workers_per_node - 1) / cluster.workers_per_node);
    for (const double one : seconds) {
      const bool slow = std::uniform_real_distribution<>()(random_) < cluster.stragglers;
      runs_.push_back({.left = one * (slow ? 3 : 1)});
      result_.work += runs_.back().left;
      ids_.push_back(fmt::format("{:016x}", runs_.size()));
    }
    result_.runs = std::ssize(runs_);
    std::int64_t workers = cluster.workers;
    for (std::size_t node = 0; node < nodes; ++node) {
      Node& one = nodes_.emplace_back();
      // By the real clock nothing runs out: expire() does it by the simulated one.
      if (!cluster.free_leases)
        one.leases = store::open_postgres_leases(store::PostgresConnection(address), lab_,
                                                 {.holder = fmt::format("node{}", node), .seconds = 1e7, .grace = 0});
      one.free = std::min(workers, cluster.workers_per_node);
      workers -= one.free;
      for (std::int64_t worker = 0; worker < one.free; ++worker) push({.time = 0, .kind = Event::ask, .node = node});
    }
    if (cluster.death_period > 0) push({.time = cluster.death_period, .kind = Event::death});
  }

  Outcome run() {
    while (!events_.empty() && result_.ended < result_.runs) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      handle(event);
    }
    for (const auto& [minute, busy] : busy_) result_.busiest_minute = std::max(result_.busiest_minute, busy / 60);
    return result_;
  }

 private:
  void push(const Event& event) { events_.push(event); }

  // Carries out a statement; when its answer is back.
  template <typename Statement>
  double database(std::int64_t& count, double& total, bool changes, const Statement& statement) {
    ++count;
    if (cluster_.free_leases) return now_;
    double& known = times_[&total];
    if (changes || known == 0 || count % cluster_.sample == 0) {
      const auto start = std::chrono::steady_clock::now();
      statement();
      known = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    const double start = std::max(now_ + cluster_.network / 2, database_free_);
    result_.longest_wait = std::max(result_.longest_wait, start - now_);
    database_free_ = start + known;
    total += known;
    busy_[static_cast<std::int64_t>(start / 60)] += known;
    return database_free_ + cluster_.network / 2;
  }

  void handle(const Event& event) {
    Node& node = nodes_[event.node];
    switch (event.kind) {
      case Event::ask: return node.life == event.mark ? ask(event) : void();
      case Event::end: return runs_[event.run].attempt == event.mark && node.alive ? end(event) : void();
      case Event::renew: return node.life == event.mark ? renew(event.node) : void();
      case Event::look: return node.life == event.mark ? look(event) : void();
      case Event::expire: return runs_[event.run].attempt == event.mark ? expire(event.run) : void();
      case Event::death: return die();
      case Event::back: return come_back(event.node);
    }
  }

  void ask(const Event& event) {
    Node& node = nodes_[event.node];
    for (;;) {
      std::erase_if(node.asked, [&](std::size_t run) { return runs_[run].ended; });
      for (; node.asked.size() < kAskedAtOnce && node.next < runs_.size(); ++node.next)
        if (!runs_[node.next].ended) node.asked.push_back(node.next);
      if (node.asked.empty()) return wait(event);
      std::optional<std::size_t> taken;
      std::int64_t attempt = 0;
      now_ = database(result_.acquires, result_.acquire_seconds, true, [&] {
        std::vector<std::string> ids;
        for (const std::size_t run : node.asked) ids.push_back(ids_[run]);
        const store::Leases::First first = node.leases->acquire_first(ids);
        if (first.lease) {
          taken = number(first.lease->run);
          attempt = first.lease->attempt;
        }
      });
      if (cluster_.free_leases)
        for (const std::size_t run : node.asked)
          if (!taken && !runs_[run].held) taken = run, attempt = runs_[run].attempt + 1;
      std::erase_if(node.asked, [&](std::size_t run) { return run == taken || runs_[run].held; });
      if (taken) return start(event, *taken, attempt);
    }
  }

  void start(const Event& event, std::size_t number, std::int64_t attempt) {
    Run& run = runs_[number];
    result_.doubles += run.held || run.ended ? 1 : 0;
    if (run.left_behind) {
      ++result_.taken_over;
      result_.takeover_seconds += now_ - run.died;
    }
    run = {.left = run.left, .attempt = attempt, .node = event.node, .started = now_, .held = true};
    Node& node = nodes_[event.node];
    --node.free;
    result_.waited += now_ - event.since;
    if (node.kept.empty())
      push({.time = now_ + cluster_.lease / kRenewals, .kind = Event::renew, .node = event.node, .mark = node.life});
    node.kept[number] = now_;
    push({.time = now_ + run.left, .kind = Event::end, .node = event.node, .run = number, .mark = attempt});
  }

  void end(const Event& event) {
    Run& run = runs_[event.run];
    Node& node = nodes_[event.node];
    run.ended = true;
    run.held = false;
    ++result_.ended;
    result_.makespan = now_;
    node.kept.erase(event.run);
    ++node.free;
    const double since = now_;
    const double answer = database(result_.releases, result_.release_seconds, true,
                                   [&] { node.leases->release(ids_[event.run], run.attempt); });
    push({.time = answer, .kind = Event::ask, .node = event.node, .mark = node.life, .since = since});
  }

  void renew(std::size_t number) {
    Node& node = nodes_[number];
    if (node.kept.empty()) return;
    std::vector<store::Lease> due;
    for (auto& [run, renewed] : node.kept)
      if (now_ - renewed >= cluster_.lease / kRenewals / 2) {
        due.push_back({ids_[run], runs_[run].attempt, "", 0});
        renewed = now_;
      }
    database(result_.renewals, result_.renew_seconds, false, [&] { node.leases->renew_all(due); });
    double first = now_;
    for (const auto& [run, renewed] : node.kept) first = std::min(first, renewed);
    push({.time = first + cluster_.lease / kRenewals, .kind = Event::renew, .node = number, .mark = node.life});
  }

  // Nothing is free: the node looks at the others' leases from time to time.
  void wait(const Event& event) {
    Node& node = nodes_[event.node];
    if (node.looking) return;
    node.looking = true;
    node.looks_since = now_;
    push(
        {.time = now_ + kLookPeriod, .kind = Event::look, .node = event.node, .mark = node.life, .since = event.since});
  }

  void look(const Event& event) {
    Node& node = nodes_[event.node];
    const double answer = database(result_.looks, result_.look_seconds, false, [&] { node.leases->live(); });
    for (std::size_t run = 0; run < left_behind_.size() && node.free > 0; ++run) {
      const std::size_t number = left_behind_[run];
      if (runs_[number].held || runs_[number].ended) continue;
      std::optional<std::int64_t> attempt = runs_[number].attempt + 1;
      const double asked = now_;
      now_ = std::max(answer, database(result_.acquires, result_.acquire_seconds, true,
                                       [&] { attempt = node.leases->acquire(ids_[number], runs_[number].attempt); }));
      if (attempt) start({.node = event.node, .since = now_}, number, *attempt);
      now_ = asked;
    }
    std::erase_if(left_behind_, [&](std::size_t run) { return runs_[run].held || runs_[run].ended; });
    // It leaves when it has nothing of its own and has seen every other holder renew.
    if (node.kept.empty() && now_ - node.looks_since > cluster_.lease / kRenewals + kLookPeriod) return;
    push({.time = std::max(now_ + kLookPeriod, answer),
          .kind = Event::look,
          .node = event.node,
          .mark = node.life,
          .since = event.since});
  }

  void die() {
    push({.time = now_ + cluster_.death_period, .kind = Event::death});
    const std::size_t number = std::uniform_int_distribution<std::size_t>(0, nodes_.size() - 1)(random_);
    Node& node = nodes_[number];
    if (!node.alive) return;
    ++result_.deaths;
    node.alive = node.looking = false;
    ++node.life;
    for (const auto& [run, renewed] : node.kept) {
      const double trained = std::max(0.0, now_ - runs_[run].started - cluster_.checkpoint);
      runs_[run].left = std::max(0.0, runs_[run].left - trained);
      runs_[run].died = now_;
      push({.time = renewed + cluster_.lease,
            .kind = Event::expire,
            .node = number,
            .run = run,
            .mark = runs_[run].attempt});
    }
    node.free += std::ssize(node.kept);
    node.kept.clear();
    push({.time = now_ + cluster_.return_after, .kind = Event::back, .node = number});
  }

  void expire(std::size_t run) {
    if (!cluster_.free_leases)
      direct_.execute(
          fmt::format("UPDATE {} SET expires = '-infinity' WHERE lab = $1 AND run = $2", store::kLeaseTable),
          {lab_, ids_[run]});
    runs_[run].held = false;
    runs_[run].left_behind = true;
    left_behind_.push_back(run);
  }

  // The task starts over: it reads the list from its beginning.
  void come_back(std::size_t number) {
    Node& node = nodes_[number];
    node.alive = true;
    node.asked.clear();
    node.next = 0;
    for (std::int64_t worker = 0; worker < node.free; ++worker)
      push({.time = now_, .kind = Event::ask, .node = number, .mark = node.life, .since = now_});
  }

  static std::size_t number(const std::string& id) { return std::stoull(id, nullptr, 16) - 1; }

  Cluster cluster_;
  store::PostgresConnection direct_;
  std::string lab_ = fmt::format("simulation-{:x}", std::random_device{}());
  std::vector<Run> runs_;
  std::vector<std::string> ids_;
  std::vector<Node> nodes_;
  std::priority_queue<Event> events_;
  std::vector<std::size_t> left_behind_;
  std::map<const double*, double> times_;
  std::map<std::int64_t, double> busy_;  // by minute
  std::mt19937_64 random_{1};
  double now_ = 0, database_free_ = 0;
  Outcome result_;
};

}  // namespace

Outcome simulate(const std::vector<double>& seconds, const Cluster& cluster, const std::string& address) {
  return Simulation(seconds, cluster, address).run();
}

}  // namespace mneme::bench
