#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "cluster/simulation.h"
#include "store/leases_postgres.h"

namespace mneme::bench {

double leases_per_second(std::int64_t connections, double seconds, const std::string& address) {
  const std::string lab = fmt::format("storm-{:x}", std::random_device{}());
  std::atomic<std::int64_t> taken = 0;
  std::atomic<bool> stop = false;
  std::vector<std::string> runs;
  for (std::size_t run = 0; run < 32; ++run) runs.push_back(fmt::format("{:016x}", run));
  std::vector<std::unique_ptr<store::Leases>> leases;
  for (std::int64_t connection = 0; connection < connections; ++connection)
    leases.push_back(store::open_postgres_leases(store::PostgresConnection(address), lab,
                                                 {.holder = fmt::format("node{}", connection), .seconds = 300}));
  std::vector<std::thread> threads;
  const auto start = std::chrono::steady_clock::now();
  for (const auto& ours : leases)
    threads.emplace_back([&] {
      while (!stop) {
        const store::Leases::First first = ours->acquire_first(runs);
        if (!first.lease) continue;
        ours->release(first.lease->run, first.lease->attempt);
        ++taken;
      }
    });
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(taken) / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace mneme::bench
