#include "store/leases_postgres.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
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

TEST_F(PostgresLeases, TheFirstFreeOfManyIsOneQuestion) {
  const auto a = open(server.address());
  const auto b = open_postgres_leases(PostgresConnection(server.address()), "lab", {.holder = "b", .seconds = 600});
  const std::vector<std::string> runs{"r1", "r2", "r3"};
  EXPECT_EQ(a->acquire_first(runs).lease->run, "r1");
  const Leases::First second = b->acquire_first(runs);
  EXPECT_EQ(second.lease->run, "r2");
  EXPECT_EQ(second.held, std::vector<std::string>{"r1"});
  EXPECT_EQ(a->acquire_first(runs).lease->run, "r3");
  EXPECT_EQ(b->acquire_first(runs).lease, std::nullopt);
  EXPECT_EQ(b->acquire_first(runs).held, runs);
  a->release("r1", 1);
  const Leases::First again = b->acquire_first(runs);
  EXPECT_EQ(again.lease->run, "r1");
  EXPECT_EQ(again.lease->attempt, 2) << "numbers grow";
  EXPECT_EQ(a->renew_all({{"r1", 1, "", 0}, {"r3", 1, "", 0}}), std::vector<std::string>{"r3"}) << "r1 is b's now";
}

TEST_F(PostgresLeases, ALostAnswerToTheFirstFreeLosesNoRun) {
  const TemporaryDirectory directory;
  CuttingProxy proxy(directory.path().string(), server.directory());
  const auto leases = open("postgresql:///postgres?user=mneme&host=" + directory.path().string());
  proxy.cut_next_answer();
  EXPECT_EQ(leases->acquire_first({"r1", "r2"}).lease->run, "r1") << "ours already, though nobody said so";
  EXPECT_EQ(proxy.cuts(), 1);
  EXPECT_EQ(leases->live().size(), 1u) << "and only that one";
}

TEST_F(PostgresLeases, ManyThatAskAtOnceGetDifferentRuns) {
  constexpr int kProcesses = 8, kRuns = 400;
  std::vector<std::string> runs;
  for (int i = 0; i < kRuns; ++i) runs.push_back(fmt::format("run{:03}", i));
  const TemporaryDirectory directory;
  testing::in_children(kProcesses, [&](int process) {
    const auto leases = open_postgres_leases(PostgresConnection(server.address()), "lab",
                                             {.holder = fmt::format("p{}", process), .seconds = 600});
    std::string taken;
    while (const auto lease = leases->acquire_first(runs).lease) taken += lease->run + "\n";
    write_file_atomically(directory / std::to_string(process), taken);
  });
  std::multiset<std::string> taken;
  for (int process = 0; process < kProcesses; ++process)
    for (const std::string& run : split(read_file(directory / std::to_string(process)), '\n'))
      if (!run.empty()) taken.insert(run);
  EXPECT_EQ(taken.size(), runs.size()) << "a run was leased twice";
  EXPECT_EQ(std::set<std::string>(taken.begin(), taken.end()).size(), runs.size());
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
  EXPECT_EQ(other->acquire_first({"run"}).lease, std::nullopt);
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
