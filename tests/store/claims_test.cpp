#include "store/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <set>

#include "support/slow.h"
#include "support/temporary_directory.h"

namespace mneme {
namespace {

using ::testing::IsEmpty;
using testing::TemporaryDirectory;

// A test's own time.
struct Time {
  double now = 1000;
  ClaimOptions as(const std::string& holder) {
    return {.holder = holder, .lease = 60, .now = [this] { return now; }};
  }
};

TEST(Claims, OneHolderAtATimeAndNumbersRise) {
  const TemporaryDirectory directory;
  Time time;
  const auto a = open_claims(directory / "claims.db", time.as("a")),
             b = open_claims(directory / "claims.db", time.as("b"));
  EXPECT_EQ(a->claim("run", 0), 1);
  EXPECT_EQ(b->claim("run", 0), std::nullopt);
  EXPECT_EQ(a->claim("run", 0), std::nullopt) << "not even its holder claims twice";
  EXPECT_EQ(b->claim("other", 5), 6) << "above what the directory has seen";
  a->release("run", 1);
  EXPECT_EQ(b->claim("run", 0), 2);
  a->release("run", 1);
  EXPECT_EQ(a->claim("run", 0), std::nullopt) << "an old release gives nothing free";
}

TEST(Claims, ALeaseExpiresUnlessItIsRenewed) {
  const TemporaryDirectory directory;
  Time time;
  const auto a = open_claims(directory / "claims.db", time.as("a")),
             b = open_claims(directory / "claims.db", time.as("b"));
  EXPECT_EQ(a->claim("run", 0), 1);
  time.now += 59;
  EXPECT_TRUE(a->renew("run", 1));
  time.now += 59;
  EXPECT_EQ(b->claim("run", 0), std::nullopt);
  EXPECT_EQ(b->live().size(), 1u);
  time.now += 2;
  EXPECT_THAT(b->live(), IsEmpty());
  EXPECT_EQ(b->claim("run", 0), 2);
  EXPECT_FALSE(a->renew("run", 1)) << "lost";
  EXPECT_EQ(a->seize("run", 0), 3) << "for cancelling";
  EXPECT_FALSE(b->renew("run", 2));
}

TEST(Claims, OfAProcessThatDiedHereNobodyWaits) {
  const TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    open_claims(directory / "claims.db", {.holder = our_holder(), .lease = 1e6})->claim("run", 0);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_gone(our_holder()));
  EXPECT_FALSE(is_gone("elsewhere/1234/1/1")) << "of other machines nothing is known";
  EXPECT_EQ(open_claims(directory / "claims.db", {.holder = our_holder()})->claim("run", 0), 2);
}

TEST(Claims, ADamagedFileIsMadeAgain) {
  const TemporaryDirectory directory;
  write_file_atomically(directory / "claims.db", std::string(5000, 'x'));
  EXPECT_EQ(open_claims(directory / "claims.db", {.holder = "a"})->claim("run", 7), 8);
}

// Claims a run and returns the attempt; nothing if it is held.
using Claimer = std::function<std::optional<std::int64_t>(Claims& claims, Database& database, const std::string& run)>;

struct Contest {
  std::int64_t claims = 0, doubles = 0;
};

// Processes that claim and release the runs of a small pool, each until it has had `each` claims. A double is a pair of
// (run, attempt) that was handed out twice.
Contest contest(int processes, int each, const Claimer& claimer) {
  const TemporaryDirectory directory;
  const Path file = directory / "claims.db";
  open_claims(file, {.holder = "first"});
  constexpr int kRuns = 24;
  std::vector<pid_t> children;
  for (int process = 0; process < processes; ++process) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    int code = 0;
    try {
      const auto claims = open_claims(file, {.holder = "process " + std::to_string(process), .lease = 1e6});
      Database database(file);
      std::ofstream log(directory / std::to_string(process));
      for (int had = 0, turn = process; had < each; turn += 7) {
        const std::string run = "run" + std::to_string(turn % kRuns);
        const auto attempt = claimer(*claims, database, run);
        if (!attempt) continue;
        log << run << " " << *attempt << "\n";
        ++had;
        claims->release(run, *attempt);
      }
    } catch (const std::exception& error) {
      std::ofstream(directory / ("error" + std::to_string(process))) << error.what();
      code = 1;
    }
    ::_exit(code);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  Contest result;
  std::set<std::string> seen;
  for (int process = 0; process < processes; ++process) {
    std::ifstream log(directory / std::to_string(process));
    for (std::string line; std::getline(log, line); ++result.claims)
      if (!seen.insert(line).second) ++result.doubles;
  }
  return result;
}

std::optional<std::int64_t> atomic_claim(Claims& claims, Database&, const std::string& run) {
  return claims.claim(run, 0);
}

// The planted fault: looks first and updates afterwards, as many job queues do.
std::optional<std::int64_t> read_then_update(Claims&, Database& database, const std::string& run) {
  std::int64_t attempt = 0;
  {
    Statement row(database, "SELECT attempt, expires FROM claims WHERE run = ?");
    row.bind(std::string_view(run));
    if (row.step()) {
      if (row.real(1) > 0) return std::nullopt;
      attempt = row.integer(0);
    }
  }
  Statement update(database, "INSERT OR REPLACE INTO claims (run, attempt, holder, expires) VALUES (?, ?, 'x', 0)");
  update.bind(std::string_view(run)).bind(attempt + 1).run();
  return attempt + 1;
}

TEST(Claims, SixteenProcessesNeverShareOne) {
  const Contest result = contest(16, 25, atomic_claim);
  EXPECT_EQ(result.claims, 16 * 25);
  EXPECT_EQ(result.doubles, 0);
  std::printf("%ld claims by 16 processes: %ld doubles\n", static_cast<long>(result.claims),
              static_cast<long>(result.doubles));
}

TEST(Claims, TheContestFindsAClaimThatReadsFirst) { EXPECT_GT(contest(8, 40, read_then_update).doubles, 0); }

TEST(Claims, SlowSixteenProcessesTenThousandClaimsEach) {
  MNEME_SLOW_TEST();
  const Contest result = contest(16, 10000, atomic_claim);
  EXPECT_EQ(result.claims, 160000);
  EXPECT_EQ(result.doubles, 0);
  std::printf("%ld claims by 16 processes: %ld doubles\n", static_cast<long>(result.claims),
              static_cast<long>(result.doubles));
}

}  // namespace
}  // namespace mneme
