#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "cluster/simulation.h"
#include "run/question_size.h"
#include "store/leases_postgres.h"

namespace mneme::bench {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<std::unique_ptr<store::Leases>> open_many(std::int64_t connections, const std::string& address) {
  const std::string lab = fmt::format("storm-{:x}", std::random_device{}());
  std::vector<std::unique_ptr<store::Leases>> leases;
  for (std::int64_t connection = 0; connection < connections; ++connection)
    leases.push_back(store::open_postgres_leases(store::PostgresConnection(address), lab,
                                                 {.holder = fmt::format("node{}", connection), .seconds = 300}));
  return leases;
}

}  // namespace

double leases_per_second(std::int64_t connections, double seconds, const std::string& address) {
  std::atomic<std::int64_t> taken = 0;
  std::atomic<bool> stop = false;
  std::vector<std::string> runs;
  for (std::size_t run = 0; run < 32; ++run) runs.push_back(fmt::format("{:016x}", run));
  const auto leases = open_many(connections, address);
  std::vector<std::thread> threads;
  const auto start = Clock::now();
  for (const auto& ours : leases)
    threads.emplace_back([&] {
      while (!stop) {
        for (const store::Lease& lease : ours->acquire_first(runs, 1).leases) {
          ours->release(lease.run, lease.attempt);
          ++taken;
        }
      }
    });
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(taken) / since(start);
}

Rush rush(std::int64_t nodes, std::int64_t workers_per_node, const std::string& address) {
  std::vector<std::string> runs;
  for (std::int64_t run = 0; run < 2 * nodes * workers_per_node; ++run) runs.push_back(fmt::format("{:016x}", run));
  const auto leases = open_many(nodes, address);
  std::vector<std::vector<std::string>> taken(leases.size());
  std::vector<std::thread> threads;
  const auto start = Clock::now();
  for (std::size_t node = 0; node < leases.size(); ++node)
    threads.emplace_back([&, node] {
      run::QuestionSize question;
      std::vector<std::string> waiting = runs;
      while (std::ssize(taken[node]) < workers_per_node && !waiting.empty()) {
        const auto wanted = static_cast<std::size_t>(workers_per_node) - taken[node].size();
        const auto size = static_cast<std::ptrdiff_t>(std::min(question.runs(wanted), waiting.size()));
        const auto first = leases[node]->acquire_first({waiting.begin(), waiting.begin() + size}, wanted);
        question.learn(first.held.size());
        std::set<std::string> passed(first.held.begin(), first.held.end());
        for (const store::Lease& lease : first.leases) {
          passed.insert(lease.run);
          taken[node].push_back(lease.run);
        }
        std::erase_if(waiting, [&](const std::string& run) { return passed.contains(run); });
      }
    });
  for (std::thread& thread : threads) thread.join();
  Rush result{.seconds = since(start)};
  std::set<std::string> seen;
  for (const auto& ours : taken)
    for (const std::string& run : ours) {
      ++result.leases;
      result.doubles += seen.insert(run).second ? 0 : 1;
    }
  return result;
}

}  // namespace mneme::bench
