// Many processes that lease the same runs at once: none is handed out twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "store/lease_stores.h"
#include "support/children.h"
#include "support/slow.h"

namespace mneme::store {
namespace {

using testing::Acquirer;
using testing::LeaseStore;
using testing::StoreKind;
using testing::TemporaryDirectory;

struct Tally {
  std::int64_t leases = 0, doubles = 0;
};

// Leases and releases the runs of a small pool until it has had `each` of them, and writes each down.
void compete(int process, int each, const Acquirer& acquire, Leases& leases, std::ofstream log) {
  constexpr int kRuns = 24;
  for (int had = 0, turn = process; had < each; turn += 7) {
    const std::string run = "run" + std::to_string(turn % kRuns);
    const auto attempt = acquire(run);
    if (!attempt) continue;
    log << run << " " << *attempt << "\n";
    ++had;
    leases.release(run, *attempt);
  }
}

// The same, several in a question: another number of them every time, and the runs in another order.
void compete_for_several(int process, int each, Leases& leases, std::ofstream log) {
  constexpr int kRuns = 96, kMost = 6;
  std::vector<std::string> runs;
  for (int run = 0; run < kRuns; ++run) runs.push_back("run" + std::to_string(run));
  for (int had = 0, turn = process; had < each; ++turn) {
    std::rotate(runs.begin(), runs.begin() + 1 + turn % 7, runs.end());
    const Leases::First first =
        leases.acquire_first(runs, static_cast<std::size_t>(std::min(1 + turn % kMost, each - had)));
    for (const Lease& lease : first.leases) {
      log << lease.run << " " << lease.attempt << "\n";
      ++had;
    }
    for (const Lease& lease : first.leases) leases.release(lease.run, lease.attempt);
  }
}

enum class How { atomically, carelessly, several };

// A double is a pair of (run, attempt) that was handed out twice.
Tally contest(LeaseStore& store, int processes, int each, How how) {
  const TemporaryDirectory directory;
  store.open("first");
  testing::in_children(processes, [&](int process) {
    const auto leases = store.open("process " + std::to_string(process), 1e6);
    if (how == How::several)
      return compete_for_several(process, each, *leases, std::ofstream(directory / std::to_string(process)));
    const Acquirer acquire = how == How::carelessly ? store.careless_acquirer()
                                                    : [&](const std::string& run) { return leases->acquire(run, 0); };
    compete(process, each, acquire, *leases, std::ofstream(directory / std::to_string(process)));
  });
  Tally tally;
  std::set<std::string> seen;
  for (int process = 0; process < processes; ++process) {
    std::ifstream log(directory / std::to_string(process));
    for (std::string line; std::getline(log, line); ++tally.leases)
      if (!seen.insert(line).second) ++tally.doubles;
  }
  std::printf("%ld leases by %d processes: %ld doubles\n", static_cast<long>(tally.leases), processes,
              static_cast<long>(tally.doubles));
  return tally;
}

using LeaseContest = testing::EveryLeaseStore;
INSTANTIATE_TEST_SUITE_P(, LeaseContest, ::testing::Values(StoreKind::sqlite, StoreKind::postgres), testing::name_of);

TEST_P(LeaseContest, GivesNoRunToTwoOfSixteenProcesses) {
  // A file has one writer at a time, who keeps the others waiting.
  const int each = GetParam() == StoreKind::sqlite ? 25 : 200;
  const Tally tally = contest(*store, 16, each, How::atomically);
  EXPECT_EQ(tally.leases, 16 * each);
  EXPECT_EQ(tally.doubles, 0);
}

TEST_P(LeaseContest, GivesNoRunToTwoThatTakeSeveralAtOnce) {
  const int each = GetParam() == StoreKind::sqlite ? 25 : 200;
  const Tally tally = contest(*store, 16, each, How::several);
  EXPECT_EQ(tally.leases, 16 * each);
  EXPECT_EQ(tally.doubles, 0);
}

// The processes must meet for a double to happen, and on a busy machine they may take turns.
TEST_P(LeaseContest, FindsALeaseThatReadsFirst) {
  std::int64_t doubles = 0;
  for (int contests = 0; contests < 10 && doubles == 0; ++contests)
    doubles = contest(*store, 8, 40, How::carelessly).doubles;
  EXPECT_GT(doubles, 0);
}

TEST_P(LeaseContest, SlowSixteenProcessesTenThousandLeasesEach) {
  MNEME_SLOW_TEST();
  const int each = testing::slow_count(10000);
  const Tally tally = contest(*store, 16, each, How::atomically);
  EXPECT_EQ(tally.leases, 16 * each);
  EXPECT_EQ(tally.doubles, 0);
}

TEST_P(LeaseContest, SlowSixteenProcessesTenThousandLeasesEachSeveralAtOnce) {
  MNEME_SLOW_TEST();
  const int each = testing::slow_count(10000);
  const Tally tally = contest(*store, 16, each, How::several);
  EXPECT_EQ(tally.leases, 16 * each);
  EXPECT_EQ(tally.doubles, 0);
}

}  // namespace
}  // namespace mneme::store
