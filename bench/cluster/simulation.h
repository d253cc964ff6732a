// A cluster whose runs are only waited for: the time of runs is simulated, every lease is taken, renewed and given back
// by the real code in a real PostgreSQL, and the processor time of each statement there is measured.
//
// The database is one processor that answers one statement after the other: a statement that arrives while another is
// at work waits. How much a node asks at once, and how often, is what the queue of runs asks (run/question_size.h).
// What a node does with the answers is the queue's way told again (run/run_queue.h): one question for all workers that
// are free, one renewal of all of a node's leases four times in a lease, looks at the others' leases by a node without
// work, which leaves when it has seen everybody renew.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mneme::bench {

struct Cluster {
  std::int64_t workers = 10, workers_per_node = 16;
  double lease = 300;         // seconds
  double network = 0.0005;    // seconds for a question and its answer to travel
  double commit = 0.001;      // seconds for a change to reach the server's disk
  bool ideal = false;         // answers cost nothing and are there at once, and a lease ends when its holder dies
  double death_period = 0;    // mean seconds between deaths of nodes; 0: none die
  double return_after = 600;  // seconds until Slurm has started the dead node's task again
  double checkpoint = 20;     // seconds of work that a death costs
  double stragglers = 0;      // share of runs that take three times as long
  std::uint64_t seed = 1;     // of deaths and stragglers: who dies when is the same with ideal leases
  // Renewals and looks change nothing here: one in so many is carried out, the others take the time that it took.
  std::int64_t sample = 1;
};

struct Statements {
  std::int64_t count = 0;  // simulated ones among them
  double seconds = 0;      // of the database
};

// From a start of a run to its end or to the death of its node.
struct Piece {
  std::int64_t node = 0;
  double from = 0, to = 0;
  bool died = false;
};

struct Outcome {
  double makespan = 0;  // seconds from the first question to the end of the last run
  double work = 0;      // seconds of runs, summed over runs
  std::int64_t runs = 0, ended = 0, doubles = 0, deaths = 0, taken_over = 0;
  Statements acquire, renew, look, release;
  double takeover_seconds = 0;  // between the death of a node and the next start of each of its runs, summed
  double waited = 0;            // seconds of workers between the end of a run and the next one's start, summed
  double longest_wait = 0;      // of one question, for the database
  double last_first_start = 0;  // when the last worker had its first run
  double busiest_minute = 0;    // share of the minute in which the database had the most to do
  std::vector<Piece> last_run;  // the run that ended last
};

// `seconds`: how long each run takes. `address` is a PostgreSQL in which the table of leases may be made.
Outcome simulate(const std::vector<double>& seconds, const Cluster& cluster, const std::string& address);

// So many threads with a connection each take and give back leases of one list as fast as the server lets them, for so
// many seconds: leases a second.
double leases_per_second(std::int64_t connections, double seconds, const std::string& address);

// So many nodes ask at the same moment, each with a connection and a thread of its own, until each has runs for all of
// its workers.
struct Rush {
  double seconds = 0;  // until all have
  std::int64_t leases = 0, doubles = 0;
};
Rush rush(std::int64_t nodes, std::int64_t workers_per_node, const std::string& address);

}  // namespace mneme::bench
