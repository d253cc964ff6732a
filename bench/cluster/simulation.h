// A cluster whose runs are only waited for: the time of runs is simulated, every lease is taken, renewed and given back
// by the real code in a real PostgreSQL, and the time that each statement takes there is measured.
//
// The database is one processor that answers one statement after the other: a statement that arrives while another is
// at work waits. What a node asks, and when, is what run/run_queue.h asks: 32 runs at once, one renewal of all of a
// node's leases four times in a lease, and a look at the others' leases every five seconds by a node that has nothing
// to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mneme::bench {

struct Cluster {
  std::int64_t workers = 10, workers_per_node = 16;
  double lease = 300;         // seconds
  double network = 0.0005;    // seconds for a question and its answer to travel
  bool free_leases = false;   // answers cost nothing and are there at once: the ideal
  double death_period = 0;    // seconds between deaths of nodes; 0: none die
  double return_after = 600;  // seconds until Slurm has started the dead node's task again
  double checkpoint = 20;     // seconds of work that a death costs
  double stragglers = 0;      // share of runs that take three times as long
  // Renewals and looks change nothing here: one in so many is carried out, the others take the time that it took.
  std::int64_t sample = 1;
};

struct Outcome {
  double makespan = 0;  // seconds from the first question to the end of the last run
  double work = 0;      // seconds of runs, summed over runs
  std::int64_t runs = 0, ended = 0, doubles = 0, deaths = 0, taken_over = 0;
  std::int64_t acquires = 0, renewals = 0, looks = 0, releases = 0;  // statements, simulated ones among them
  double acquire_seconds = 0, renew_seconds = 0, look_seconds = 0, release_seconds = 0;  // of the database
  double takeover_seconds = 0;  // between the death of a node and the next start of each of its runs, summed
  double waited = 0;            // seconds of workers between the end of a run and the next one's start, summed
  double longest_wait = 0;      // of one question, for the database
  double busiest_minute = 0;    // share of the minute in which the database had the most to do
};

// `seconds`: how long each run takes. `address` is a PostgreSQL in which the table of leases may be made.
Outcome simulate(const std::vector<double>& seconds, const Cluster& cluster, const std::string& address);

// So many threads with a connection each take and give back leases of one list as fast as the server lets them, for so
// many seconds: leases a second.
double leases_per_second(std::int64_t connections, double seconds, const std::string& address);

}  // namespace mneme::bench
