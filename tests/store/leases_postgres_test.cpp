#include "store/leases_postgres.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <thread>

#include "core/text.h"
#include "support/children.h"
#include "support/cutting_proxy.h"
#include "support/expect_error.h"
#include "support/postgres_server.h"
#include "support/temporary_directory.h"

namespace mneme::store {
namespace {

using testing::CuttingProxy;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TemporaryDirectory;

class PostgresLeases : public ::testing::Test {
 protected:
  void SetUp() override { MNEME_NEEDS_POSTGRES(server); }
  std::unique_ptr<Leases> open(const std::string& address) {
    return open_postgres_leases(PostgresConnection(address), "lab", {.holder = "a", .seconds = 600});
  }
  testing::PostgresServer server;
};

TEST_F(PostgresLeases, TheTableIsMadeByManyAtOnce) {
  testing::in_children(12, [&](int) { open(server.address()); });
  EXPECT_EQ(open(server.address())->acquire("run", 0), 1);
}

TEST_F(PostgresLeases, GoOnAfterTheConnectionWasLost) {
  const auto leases = open(server.address());
  EXPECT_EQ(leases->acquire("run", 0), 1);
  PostgresConnection(server.address())
      .execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = "
          "'client backend'");
  EXPECT_TRUE(leases->renew("run", 1));
  EXPECT_EQ(leases->acquire("run", 0), std::nullopt);
}

TEST_F(PostgresLeases, ALostAnswerLosesNoRun) {
  const TemporaryDirectory directory;
  CuttingProxy proxy(directory.path().string(), server.directory());
  const auto leases = open("postgresql:///postgres?user=mneme&host=" + directory.path().string());
  proxy.cut_next_answer();
  EXPECT_EQ(leases->acquire("run", 0), 1) << "ours already, though nobody said so";
  proxy.cut_next_answer();
  EXPECT_EQ(leases->seize("run", 0), 2);
  proxy.cut_next_answer();
  EXPECT_TRUE(leases->renew("run", 2));
  EXPECT_EQ(proxy.cuts(), 3);
  EXPECT_EQ(leases->live().size(), 1u);
  EXPECT_EQ(open(server.address())->acquire("run", 0), std::nullopt);
}

TEST_F(PostgresLeases, AServerThatIsGoneIsAClearError) {
  const auto leases = open(server.address());
  server.stop();
  try {
    leases->acquire("run", 0);
    FAIL() << "leased without a server";
  } catch (const DatabaseError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot connect"));
    EXPECT_THAT(error.what(), HasSubstr("postgresql://"));
    EXPECT_FALSE(error.full());
    EXPECT_TRUE(error.away());
  }
}

// "r1=2 r2=1": runs and attempts.
std::string taken(const Leases::First& first) {
  std::vector<std::string> all;
  for (const Lease& lease : first.leases) all.push_back(fmt::format("{}={}", lease.run, lease.attempt));
  return join(all, " ");
}

TEST_F(PostgresLeases, TheFirstFreeOfManyIsOneQuestion) {
  const auto a = open(server.address());
  const auto b = open_postgres_leases(PostgresConnection(server.address()), "lab", {.holder = "b", .seconds = 600});
  const std::vector<std::string> runs{"r1", "r2", "r3"};
  EXPECT_EQ(taken(a->acquire_first(runs, 1)), "r1=1");
  const Leases::First second = b->acquire_first(runs, 1);
  EXPECT_EQ(taken(second), "r2=1");
  EXPECT_EQ(second.held, std::vector<std::string>{"r1"});
  EXPECT_EQ(taken(a->acquire_first(runs, 1)), "r3=1");
  EXPECT_EQ(taken(b->acquire_first(runs, 1)), "");
  EXPECT_EQ(b->acquire_first(runs, 1).held, runs);
  a->release("r1", 1);
  EXPECT_EQ(taken(b->acquire_first(runs, 1)), "r1=2") << "numbers grow";
  EXPECT_EQ(a->renew_all({{"r1", 1, "", 0}, {"r3", 1, "", 0}}), std::vector<std::string>{"r3"}) << "r1 is b's now";
}

TEST_F(PostgresLeases, SeveralOfManyAreOneQuestionToo) {
  const auto a = open(server.address());
  const auto b = open_postgres_leases(PostgresConnection(server.address()), "lab", {.holder = "b", .seconds = 600});
  // Not in the order of their names: the longest come first.
  const std::vector<std::string> runs{"r9", "r1", "r5", "r3", "r7"};
  EXPECT_EQ(a->acquire("r1", 0), 1);
  const Leases::First first = b->acquire_first(runs, 3);
  EXPECT_EQ(taken(first), "r9=1 r5=1 r3=1");
  EXPECT_EQ(first.held, std::vector<std::string>{"r1"});
  EXPECT_EQ(taken(a->acquire_first(runs, 3)), "r7=1") << "no more is free";
  EXPECT_EQ(taken(a->acquire_first(runs, 0)), "");
  b->release("r5", 1);
  EXPECT_EQ(taken(a->acquire_first(runs, 3)), "r5=2");
}

TEST_F(PostgresLeases, ALostAnswerToTheFirstFreeLosesNoRun) {
  const TemporaryDirectory directory;
  CuttingProxy proxy(directory.path().string(), server.directory());
  const auto leases = open("postgresql:///postgres?user=mneme&host=" + directory.path().string());
  proxy.cut_next_answer();
  EXPECT_EQ(taken(leases->acquire_first({"r1", "r2", "r3"}, 2)), "r1=1 r2=1") << "ours already, though nobody said so";
  EXPECT_EQ(proxy.cuts(), 1);
  EXPECT_EQ(leases->live().size(), 2u) << "and only those";
}

// One at a time, and several at a time by processes that know the runs in different orders.
TEST_F(PostgresLeases, ManyThatAskAtOnceGetDifferentRuns) {
  constexpr int kProcesses = 8, kRuns = 400;
  std::vector<std::string> runs;
  for (int i = 0; i < kRuns; ++i) runs.push_back(fmt::format("run{:03}", i));
  for (const std::size_t wanted : {1, 5}) {
    const TemporaryDirectory directory;
    testing::in_children(kProcesses, [&](int process) {
      const auto leases = open_postgres_leases(PostgresConnection(server.address()), fmt::format("lab{}", wanted),
                                               {.holder = fmt::format("p{}", process), .seconds = 600});
      std::vector<std::string> ours = runs;
      if (process % 2 == 1) std::reverse(ours.begin(), ours.end());
      std::string had;
      for (;;) {
        const Leases::First first = leases->acquire_first(ours, wanted);
        if (first.leases.size() > wanted) throw std::runtime_error("more than were asked for");
        if (first.leases.empty()) break;
        for (const Lease& lease : first.leases) had += lease.run + "\n";
      }
      write_file_atomically(directory / std::to_string(process), had);
    });
    std::multiset<std::string> had;
    for (int process = 0; process < kProcesses; ++process)
      for (const std::string& run : split(read_file(directory / std::to_string(process)), '\n'))
        if (!run.empty()) had.insert(run);
    EXPECT_EQ(had.size(), runs.size()) << "a run was leased twice";
    EXPECT_EQ(std::set<std::string>(had.begin(), had.end()).size(), runs.size());
  }
}

TEST_F(PostgresLeases, WhatRanOutWhileTheServerWasAwayWaitsForItsHolder) {
  const auto open_with = [&](const char* holder, double grace) {
    return open_postgres_leases(PostgresConnection(server.address()), "lab",
                                {.holder = holder, .seconds = 60, .grace = grace});
  };
  const auto holder = open_with("a", 600), other = open_with("b", 600), later = open_with("c", 0);
  const auto out_of_time = [&] {
    PostgresConnection(server.address())
        .execute("UPDATE mneme_leases SET expires = pg_postmaster_start_time() - interval '1 second'");
  };
  EXPECT_EQ(holder->acquire("run", 0), 1);
  out_of_time();
  EXPECT_EQ(other->acquire("run", 0), std::nullopt);
  EXPECT_EQ(taken(other->acquire_first({"run"}, 1)), "");
  EXPECT_TRUE(holder->renew("run", 1)) << "it was only late";
  out_of_time();
  EXPECT_EQ(later->acquire("run", 0), 2) << "the time of grace is over";
}

TEST_F(PostgresLeases, ALeaseThatIsHeldFastCannotBeTakenMeanwhile) {
  const auto a = open(server.address());
  const auto b = open_postgres_leases(PostgresConnection(server.address()), "lab", {.holder = "b", .seconds = 600});
  EXPECT_EQ(a->acquire("run", 0), 1);
  bool moved = false, before = false;
  std::thread thief;
  EXPECT_TRUE(a->while_held("run", 1, [&] {
    thief = std::thread([&] {
      b->seize("run", 0);
      before = !moved;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    moved = true;
  }));
  thief.join();
  EXPECT_FALSE(before) << "taken away in the middle";
  EXPECT_FALSE(a->while_held("run", 1, [] { FAIL() << "no longer ours"; }));
}

TEST_F(PostgresLeases, BytesThatAreNotTextAreRefused) {
  const auto leases = open(server.address());
  EXPECT_EQ(leases->acquire("a", 0), 1);
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { leases->acquire(std::string_view("a\0b", 3), 0); }),
              HasSubstr("without NUL"));
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { leases->acquire("\xff", 0); }), HasSubstr("UTF-8"));
}

TEST(PostgresAddress, APasswordIsNeverRepeated) {
  for (const char* address :
       {"postgresql://user:secret@127.0.0.1:1/db", "postgresql://user:se/cret@127.0.0.1:1/db",
        "postgresql://user:se@cret@127.0.0.1:1/db", "postgresql://user:se?cret@127.0.0.1:1/db",
        "postgresql://user:se#cret@127.0.0.1:1/db", "postgresql://user:secret@127.0.0.1:secret/db",
        "postgresql://user:%zzsecret@127.0.0.1:1/db", "postgresql://[user:secret@127.0.0.1:1/db",
        "postgresql://127.0.0.1:1/db?password=secret&unknown=1", "postgresql://127.0.0.1:1/db?password=secret",
        "host=127.0.0.1 port=1 password=secret", "mysql://user:secret@127.0.0.1/db"}) {
    try {
      PostgresConnection connection(address);
      FAIL() << address;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), Not(HasSubstr("cret"))) << address;
      EXPECT_THAT(error.what(), HasSubstr("postgresql://")) << "what is expected, or which server it was";
    }
  }
}

}  // namespace
}  // namespace mneme::store
