#include "cluster/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <set>

#include "cluster/server_time.h"
#include "run/question_size.h"
#include "store/leases_postgres.h"

namespace mneme::bench {
namespace {

constexpr double kRenewals = 4;

struct Run {
  double left = 0;
  std::int64_t attempt = 0;
  double renewed = 0, died = 0;  // its lease, last; when its node died
  bool held = false, ended = false, orphan = false, left_behind = false;
  std::vector<Piece> pieces;
};

struct Node {
  std::unique_ptr<store::Leases> leases;
  ServerTime server;
  run::QuestionSize question;
  std::vector<std::size_t> waiting;  // of the list, as far as it was asked for
  std::size_t next = 0;              // of the list, not yet among them
  std::set<std::size_t> kept;
  std::vector<double> idle;  // since when each of its free workers is free
  std::int64_t life = 0;     // counts its deaths: what was meant for an earlier life is forgotten
  bool alive = true, looking = false, gone = false;
  double looks_since = 0, looked = 0, asks_until = 0;
};

struct Event {
  double time = 0;
  enum Kind { ask, end, renew, look, expire, death, back } kind = ask;
  std::size_t node = 0, run = 0;
  std::int64_t mark = 0;    // life of the node, or attempt of the run
  std::int64_t number = 0;  // of events at one time the first that was planned comes first
  bool operator<(const Event& other) const { return time != other.time ? time > other.time : number > other.number; }
};

class Simulation {
 public:
  Simulation(const std::vector<double>& seconds, const Cluster& cluster, const std::string& address)
      : cluster_(cluster), direct_(address), deaths_(cluster.seed) {
    std::mt19937_64 random(cluster.seed + 1);
    for (const double one : seconds) {
      const bool slow = std::uniform_real_distribution<>()(random) < cluster.stragglers;
      Run& run = runs_.emplace_back();
      run.left = one * (slow ? 3 : 1);
      result_.work += run.left;
      ids_.push_back(fmt::format("{:016x}", runs_.size()));
    }
    result_.runs = std::ssize(runs_);
    nodes_.resize(
        static_cast<std::size_t>((cluster.workers + cluster.workers_per_node - 1) / cluster.workers_per_node));
    std::int64_t workers = cluster.workers;
    for (std::size_t number = 0; number < nodes_.size(); ++number) {
      Node& node = nodes_[number];
      if (!cluster.ideal) {
        store::PostgresConnection connection(address);
        node.server = ServerTime(connection);
        // By the real clock nothing runs out: expire() does it by the simulated one.
        node.leases = store::open_postgres_leases(
            std::move(connection), lab_, {.holder = fmt::format("node{}", number), .seconds = 1e7, .grace = 0});
        node.server.take();
      }
      node.idle.assign(static_cast<std::size_t>(std::min(workers, cluster.workers_per_node)), 0);
      workers -= cluster.workers_per_node;
      push({.kind = Event::ask, .node = number});
    }
    plan_death();
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
  void push(Event event) {
    event.number = ++planned_;
    events_.push(event);
  }
  void plan_death() {
    if (cluster_.death_period > 0)
      push({.time = now_ + std::exponential_distribution<>(1 / cluster_.death_period)(deaths_), .kind = Event::death});
  }

  // Carries out a node's statement; returns when its answer is back.
  template <typename Statement>
  double database(Node& node, Statements& statements, bool changes, double commit, const Statement& statement) {
    ++statements.count;
    if (cluster_.ideal) return now_;
    double& known = times_[&statements];
    if (changes || known == 0 || statements.count % cluster_.sample == 0) {
      statement();
      known = node.server.take() + commit;
    }
    const double start = std::max(now_ + cluster_.network / 2, database_free_);
    result_.longest_wait = std::max(result_.longest_wait, start - now_);
    database_free_ = start + known;
    statements.seconds += known;
    busy_[static_cast<std::int64_t>(start / 60)] += known;
    return database_free_ + cluster_.network / 2;
  }

  void handle(const Event& event) {
    Node& node = nodes_[event.node];
    const Run& run = runs_[event.run];
    const bool same_life = node.life == event.mark && node.alive, same_attempt = run.attempt == event.mark;
    switch (event.kind) {
      case Event::ask: return same_life ? ask(event.node) : void();
      case Event::end: return same_attempt && run.held && !run.orphan ? end(event) : void();
      case Event::renew: return same_life ? renew(event.node) : void();
      case Event::look: return same_life ? look(event.node) : void();
      case Event::expire: return same_attempt && run.orphan ? expire(event.run) : void();
      case Event::death: return die();
      case Event::back: return come_back(event.node);
    }
  }

  void plan(Event::Kind kind, double time, std::size_t node) {
    push({.time = time, .kind = kind, .node = node, .mark = nodes_[node].life});
  }

  // A node asks one question after the other.
  void ask(std::size_t number) {
    Node& node = nodes_[number];
    if (node.idle.empty()) return;
    if (now_ < node.asks_until) return plan(Event::ask, node.asks_until, number);
    store::Leases::First first;
    if (cluster_.ideal) {
      for (; first_free_ < runs_.size() && (runs_[first_free_].held || runs_[first_free_].ended);) ++first_free_;
      for (std::size_t run = first_free_; run < runs_.size() && first.leases.size() < node.idle.size(); ++run)
        if (!runs_[run].held && !runs_[run].ended) first.leases.push_back({ids_[run], runs_[run].attempt + 1, "", 0});
      for (const store::Lease& lease : first.leases) start(number, index_of(lease.run), lease.attempt, now_);
      return;
    }
    if (now_ - node.looked > cluster_.lease / kRenewals) look_at_others(number);
    if (node.idle.empty()) return;
    if (now_ < node.asks_until) return plan(Event::ask, node.asks_until, number);
    std::erase_if(node.waiting, [&](std::size_t run) { return runs_[run].ended; });
    const std::size_t wanted = node.idle.size(), size = node.question.runs(wanted);
    for (; node.waiting.size() < size && node.next < runs_.size(); ++node.next)
      if (!runs_[node.next].ended) node.waiting.push_back(node.next);
    if (node.waiting.empty()) return wait(number);
    node.asks_until = database(node, result_.acquire, true, cluster_.commit, [&] {
      std::vector<std::string> ids;
      for (std::size_t at = 0; at < std::min(size, node.waiting.size()); ++at) ids.push_back(ids_[node.waiting[at]]);
      first = node.leases->acquire_first(ids, wanted);
    });
    node.question.learn(first.held.size());
    std::set<std::size_t> passed;
    for (const std::string& id : first.held) passed.insert(index_of(id));
    for (const store::Lease& lease : first.leases) {
      passed.insert(index_of(lease.run));
      start(number, index_of(lease.run), lease.attempt, node.asks_until);
    }
    std::erase_if(node.waiting, [&](std::size_t run) { return passed.contains(run); });
    if (!node.idle.empty()) plan(Event::ask, node.asks_until, number);
  }

  void start(std::size_t number, std::size_t which, std::int64_t attempt, double time) {
    Run& run = runs_[which];
    Node& node = nodes_[number];
    result_.doubles += run.held || run.ended ? 1 : 0;
    if (run.died > 0) {
      ++result_.taken_over;
      result_.takeover_seconds += time - run.died;
    }
    run.attempt = attempt;
    run.died = 0;
    run.left_behind = false;
    run.held = true;
    run.renewed = now_;
    run.pieces.push_back({.node = static_cast<std::int64_t>(number), .from = time, .to = 0});
    if (node.idle.back() == 0) result_.last_first_start = std::max(result_.last_first_start, time);
    result_.waited += time - node.idle.back();
    node.idle.pop_back();
    if (node.kept.empty()) plan(Event::renew, time + cluster_.lease / kRenewals, number);
    node.kept.insert(which);
    push({.time = time + run.left, .kind = Event::end, .node = number, .run = which, .mark = attempt});
  }

  void end(const Event& event) {
    Run& run = runs_[event.run];
    Node& node = nodes_[event.node];
    run.ended = true;
    run.held = false;
    run.pieces.back().to = now_;
    ++result_.ended;
    result_.makespan = now_;
    result_.last_run = run.pieces;
    node.kept.erase(event.run);
    node.idle.insert(node.idle.begin(), now_);
    const double answer = database(node, result_.release, true, cluster_.commit,
                                   [&] { node.leases->release(ids_[event.run], run.attempt); });
    plan(Event::ask, answer, event.node);
  }

  void renew(std::size_t number) {
    Node& node = nodes_[number];
    if (node.kept.empty()) return;
    std::vector<store::Lease> due;
    double first = now_;
    for (const std::size_t run : node.kept) {
      if (now_ - runs_[run].renewed >= cluster_.lease / kRenewals / 2) {
        due.push_back({ids_[run], runs_[run].attempt, "", 0});
        runs_[run].renewed = now_;
      }
      first = std::min(first, runs_[run].renewed);
    }
    if (!due.empty()) database(node, result_.renew, false, cluster_.commit, [&] { node.leases->renew_all(due); });
    plan(Event::renew, first + cluster_.lease / kRenewals, number);
  }

  double look_period() const {
    return run::look_period(cluster_.lease, static_cast<std::size_t>(std::count_if(
                                                runs_.begin(), runs_.end(), [](const Run& run) { return run.held; })));
  }

  // Nothing is free: the node looks at the others' leases from time to time.
  void wait(std::size_t number) {
    Node& node = nodes_[number];
    if (node.looking) return;
    node.looking = true;
    node.looks_since = now_;
    plan(Event::look, now_ + look_period(), number);
  }

  // Takes what dead nodes left behind.
  void look_at_others(std::size_t number) {
    Node& node = nodes_[number];
    node.looked = now_;
    double answer = database(node, result_.look, false, 0, [&] { node.leases->live(); });
    for (const std::size_t run : std::vector<std::size_t>(left_behind_)) {
      if (node.idle.empty() || runs_[run].held || runs_[run].ended) continue;
      std::optional<std::int64_t> attempt;
      answer = database(node, result_.acquire, true, cluster_.commit,
                        [&] { attempt = node.leases->acquire(ids_[run], runs_[run].attempt); });
      if (attempt) start(number, run, *attempt, answer);
    }
    std::erase_if(left_behind_, [&](std::size_t run) { return runs_[run].held || runs_[run].ended; });
    node.asks_until = std::max(node.asks_until, answer);
  }

  void look(std::size_t number) {
    Node& node = nodes_[number];
    const double period = look_period();
    look_at_others(number);
    // It leaves when it has nothing of its own and has seen every other holder renew.
    const bool all_live = left_behind_.empty() && now_ - node.looks_since > cluster_.lease / kRenewals + period &&
                          std::all_of(runs_.begin(), runs_.end(),
                                      [&](const Run& run) { return !run.orphan || run.renewed > node.looks_since; });
    node.gone = node.kept.empty() && all_live;
    if (node.gone) return;
    node.looking = !node.idle.empty();
    if (node.looking) plan(Event::look, std::max(now_ + period, node.asks_until), number);
  }

  void die() {
    const std::size_t number = std::uniform_int_distribution<std::size_t>(0, nodes_.size() - 1)(deaths_);
    plan_death();
    Node& node = nodes_[number];
    if (!node.alive || node.gone) return;
    ++result_.deaths;
    node.alive = node.looking = false;
    ++node.life;
    for (const std::size_t which : node.kept) {
      Run& run = runs_[which];
      run.left -= std::clamp(now_ - run.pieces.back().from - cluster_.checkpoint, 0.0, run.left);
      run.died = now_;
      run.orphan = true;
      run.pieces.back().to = now_;
      run.pieces.back().died = true;
      push({.time = cluster_.ideal ? now_ : run.renewed + cluster_.lease,
            .kind = Event::expire,
            .node = number,
            .run = which,
            .mark = run.attempt});
      node.idle.push_back(0);
    }
    node.kept.clear();
    push({.time = now_ + cluster_.return_after, .kind = Event::back, .node = number});
  }

  void expire(std::size_t which) {
    Run& run = runs_[which];
    run.held = run.orphan = false;
    run.left_behind = true;
    if (cluster_.ideal) {
      first_free_ = std::min(first_free_, which);
      for (std::size_t node = 0; node < nodes_.size(); ++node)
        if (nodes_[node].alive) plan(Event::ask, now_, node);
      return;
    }
    direct_.execute(fmt::format("UPDATE {} SET expires = '-infinity' WHERE lab = $1 AND run = $2", store::kLeaseTable),
                    {lab_, ids_[which]});
    left_behind_.push_back(which);
  }

  // The task starts over: it reads the list from its beginning.
  void come_back(std::size_t number) {
    Node& node = nodes_[number];
    node.alive = true;
    node.waiting.clear();
    node.next = 0;
    node.question = {};
    for (double& since : node.idle) since = now_;
    plan(Event::ask, now_, number);
  }

  static std::size_t index_of(const std::string& id) { return std::stoull(id, nullptr, 16) - 1; }

  Cluster cluster_;
  store::PostgresConnection direct_;
  std::string lab_ = fmt::format("simulation-{:x}", std::random_device{}());
  std::vector<Run> runs_;
  std::vector<std::string> ids_;
  std::vector<Node> nodes_;
  std::priority_queue<Event> events_;
  std::vector<std::size_t> left_behind_;
  std::map<const Statements*, double> times_;
  std::map<std::int64_t, double> busy_;  // by minute
  std::mt19937_64 deaths_;
  std::int64_t planned_ = 0;
  std::size_t first_free_ = 0;  // with ideal leases: no run before it is free
  double now_ = 0, database_free_ = 0;
  Outcome result_;
};

}  // namespace

Outcome simulate(const std::vector<double>& seconds, const Cluster& cluster, const std::string& address) {
  return Simulation(seconds, cluster, address).run();
}

}  // namespace mneme::bench
