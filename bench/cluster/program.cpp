// mneme-lease-simulation: reads a JSON object from standard input and prints what a cluster would have gone through.
//   {"address": URL, "seconds": [...], "workers": 1000, ...}   the fields of Cluster; or
//   {"address": URL, "connections": 64, "for": 3}              leases a second with so many connections; or
//   {"address": URL, "nodes": 64, "workers_per_node": 16}      nodes that ask at the same moment
#include <cstdio>
#include <iostream>
#include <iterator>

#include "cluster/simulation.h"
#include "core/error.h"
#include "core/json.h"

namespace {

using namespace mneme;

Json json(const bench::Statements& statements) {
  return {{"count", statements.count}, {"seconds", statements.seconds}};
}

bench::Cluster cluster_from(const Json& wish) {
  bench::Cluster cluster;
  cluster.workers = wish.at("workers");
  cluster.workers_per_node = wish.value("workers_per_node", cluster.workers_per_node);
  cluster.lease = wish.value("lease", cluster.lease);
  cluster.ideal = wish.value("ideal", false);
  cluster.death_period = wish.value("death_period", 0.0);
  cluster.stragglers = wish.value("stragglers", 0.0);
  cluster.seed = wish.value("seed", cluster.seed);
  cluster.sample = wish.value("sample", cluster.sample);
  return cluster;
}

Json json(const bench::Outcome& outcome) {
  Json last = Json::array();
  for (const bench::Piece& piece : outcome.last_run)
    last.push_back({{"node", piece.node}, {"from", piece.from}, {"to", piece.to}, {"died", piece.died}});
  return {{"makespan", outcome.makespan},
          {"work", outcome.work},
          {"runs", outcome.runs},
          {"ended", outcome.ended},
          {"doubles", outcome.doubles},
          {"deaths", outcome.deaths},
          {"taken_over", outcome.taken_over},
          {"acquire", json(outcome.acquire)},
          {"release", json(outcome.release)},
          {"renew", json(outcome.renew)},
          {"look", json(outcome.look)},
          {"takeover_seconds", outcome.takeover_seconds},
          {"waited", outcome.waited},
          {"longest_wait", outcome.longest_wait},
          {"last_first_start", outcome.last_first_start},
          {"busiest_minute", outcome.busiest_minute},
          {"last_run", last}};
}

}  // namespace

int main() try {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const Json wish = parse_json(text, "standard input");
  const std::string address = wish.at("address");
  Json answer;
  if (wish.contains("connections")) {
    answer["leases_per_second"] = bench::leases_per_second(wish["connections"], wish.at("for"), address);
  } else if (wish.contains("nodes")) {
    const bench::Rush rush = bench::rush(wish["nodes"], wish.at("workers_per_node"), address);
    answer = {{"seconds", rush.seconds}, {"leases", rush.leases}, {"doubles", rush.doubles}};
  } else {
    answer = json(bench::simulate(wish.at("seconds").get<std::vector<double>>(), cluster_from(wish), address));
  }
  std::puts(answer.dump().c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
