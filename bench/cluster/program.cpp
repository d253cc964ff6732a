// mneme-lease-simulation: reads a JSON object from standard input and prints what a cluster would have gone through.
//   {"address": URL, "seconds": [...], "workers": 1000, ...}   the fields of Cluster; or
//   {"address": URL, "connections": 64, "for": 3}              leases a second with so many connections
#include <cstdio>
#include <iostream>
#include <iterator>

#include "cluster/simulation.h"
#include "core/error.h"
#include "core/json.h"

int main() try {
  using namespace mneme;
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const Json wish = parse_json(text, "standard input");
  const std::string address = wish.at("address");
  Json answer;
  if (wish.contains("connections")) {
    answer["leases_per_second"] = bench::leases_per_second(wish["connections"], wish.at("for"), address);
  } else {
    bench::Cluster cluster;
    cluster.workers = wish.at("workers");
    cluster.workers_per_node = wish.value("workers_per_node", cluster.workers_per_node);
    cluster.free_leases = wish.value("free_leases", false);
    cluster.death_period = wish.value("death_period", 0.0);
    cluster.stragglers = wish.value("stragglers", 0.0);
    cluster.sample = wish.value("sample", cluster.sample);
    const bench::Outcome outcome = bench::simulate(wish.at("seconds").get<std::vector<double>>(), cluster, address);
    answer = {{"makespan", outcome.makespan},
              {"work", outcome.work},
              {"runs", outcome.runs},
              {"ended", outcome.ended},
              {"doubles", outcome.doubles},
              {"deaths", outcome.deaths},
              {"taken_over", outcome.taken_over},
              {"statements",
               {{"acquire", outcome.acquires},
                {"release", outcome.releases},
                {"renew", outcome.renewals},
                {"look", outcome.looks}}},
              {"database_seconds",
               {{"acquire", outcome.acquire_seconds},
                {"release", outcome.release_seconds},
                {"renew", outcome.renew_seconds},
                {"look", outcome.look_seconds}}},
              {"takeover_seconds", outcome.takeover_seconds},
              {"waited", outcome.waited},
              {"longest_wait", outcome.longest_wait},
              {"busiest_minute", outcome.busiest_minute}};
  }
  std::puts(answer.dump().c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
