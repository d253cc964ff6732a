#include "store/leases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/lease_holder.h"
#include "store/lease_stores.h"
#include "store/sample_lab.h"
#include "support/expect_error.h"

namespace mneme::store {
namespace {

using testing::EveryLeaseStore;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SampleLab;
using testing::StoreKind;
using testing::TemporaryDirectory;

using Leasing = EveryLeaseStore;
INSTANTIATE_TEST_SUITE_P(, Leasing, ::testing::Values(StoreKind::sqlite, StoreKind::postgres), testing::name_of);

TEST_P(Leasing, HasOneHolderAtATimeAndNumbersRise) {
  const auto a = store->open("a"), b = store->open("b");
  EXPECT_EQ(a->acquire("run", 0), 1);
  EXPECT_EQ(b->acquire("run", 0), std::nullopt);
  EXPECT_EQ(a->acquire("run", 0), std::nullopt) << "not even its holder leases twice";
  EXPECT_EQ(b->acquire("other", 5), 6) << "above what the directory has seen";
  a->release("run", 1);
  EXPECT_EQ(b->acquire("run", 0), 2);
  a->release("run", 1);
  EXPECT_EQ(a->acquire("run", 0), std::nullopt) << "an old release gives nothing free";
  b->release("run", 2);
  EXPECT_EQ(a->acquire("run", 7), 8);
}

TEST_P(Leasing, EndsWithALeaseThatIsNotRenewed) {
  const auto a = store->open("a", 60), b = store->open("b", 60);
  EXPECT_EQ(a->acquire("run", 0), 1);
  store->pass(50);
  EXPECT_TRUE(a->renew("run", 1));
  store->pass(50);
  EXPECT_EQ(b->acquire("run", 0), std::nullopt);
  EXPECT_EQ(b->live().size(), 1u);
  store->pass(11);
  EXPECT_THAT(b->live(), IsEmpty());
  EXPECT_EQ(b->acquire("run", 0), 2);
  EXPECT_FALSE(a->renew("run", 1)) << "lost";
  EXPECT_FALSE(a->renew("run", 2)) << "somebody else's";
  EXPECT_EQ(a->seize("run", 0), 3) << "for cancelling";
  EXPECT_FALSE(b->renew("run", 2));
  EXPECT_TRUE(a->renew("run", 3));
  EXPECT_EQ(a->seize("new", 4), 5) << "also what nobody had";
}

TEST_P(Leasing, WaitsForNoProcessThatDiedHere) {
  const pid_t child = ::fork();
  if (child == 0) {
    store->open(our_holder(), 1e6)->acquire("run", 0);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_gone(our_holder()));
  EXPECT_FALSE(is_gone("elsewhere/1234/1/1")) << "of other machines nothing is known";
  const auto ours = store->open(our_holder());
  EXPECT_THAT(ours->live(), IsEmpty());
  EXPECT_EQ(ours->acquire("run", 0), 2);
  EXPECT_EQ(ours->live().size(), 1u);
}

TEST_P(Leasing, KeepsHostileNamesApart) {
  const std::vector<std::string> names = {"",        "'",        "'; DROP TABLE leases; DROP TABLE mneme_leases; --",
                                          "\"run\"", "$1",       "?1",
                                          "%s\\",    "run\nrun", "\xc3\xa9\xf0\x9f\x92\xbe",
                                          "NULL",    " run",     std::string(2000, 'x')};
  const auto leases = store->open("o'holder; \\");
  for (const std::string& name : names) EXPECT_EQ(leases->acquire(name, 0), 1) << name;
  std::vector<std::string> sorted = names, live;
  std::sort(sorted.begin(), sorted.end());
  for (const Lease& lease : leases->live()) {
    live.push_back(lease.run);
    EXPECT_EQ(lease.holder, "o'holder; \\");
  }
  EXPECT_EQ(live, sorted);
  for (const std::string& name : names) EXPECT_TRUE(leases->renew(name, 1)) << name;
}

TEST(Leases, ADamagedFileIsMadeAgain) {
  const TemporaryDirectory directory;
  write_file_atomically(directory / "leases.db", std::string(5000, 'x'));
  EXPECT_EQ(open_sqlite_leases(directory / "leases.db", {.holder = "a"})->acquire("run", 7), 8);
}

// What version 0.1 writes and reads, so that commands of both versions can share a lab.
TEST(Leases, OfAnOldLabStayWhereTheyAre) {
  const SampleLab sample;
  {
    Database old(sample.lab.root() / "claims.db");
    old.execute(
        "CREATE TABLE claims (run TEXT PRIMARY KEY, attempt INTEGER NOT NULL, holder TEXT NOT NULL, "
        "expires REAL NOT NULL) WITHOUT ROWID; INSERT INTO claims VALUES ('run', 3, 'elsewhere/1/1/1', 1e12)");
  }
  const auto leases = open_leases(sample.lab, {.holder = "a"});
  EXPECT_EQ(leases->acquire("run", 0), std::nullopt) << "held by a command of the old version";
  EXPECT_EQ(leases->acquire("other", 0), 1);
  Database old(sample.lab.root() / "claims.db");
  Statement row(old, "SELECT attempt FROM claims WHERE run = 'other'");
  EXPECT_TRUE(row.step()) << "and the old version sees ours";
  EXPECT_FALSE(std::filesystem::exists(sample.lab.root() / "leases.db"));
}

TEST(Leases, OfAnOldLabStayInTheirTable) {
  testing::PostgresServer server;
  MNEME_NEEDS_POSTGRES(server);
  const SampleLab sample;
  write_file_atomically(sample.lab.root() / "claims.id", "old name");
  const Lab shared(sample.lab.root(), server.address());
  EXPECT_EQ(open_leases(shared, {.holder = "a"})->acquire("run", 0), 1);
  const auto rows = PostgresConnection(server.address()).execute("SELECT run FROM mneme_claims WHERE lab = 'old name'");
  EXPECT_EQ(rows.size(), 1u);
}

TEST(Leases, OfALabAreInOnePlace) {
  testing::PostgresServer server;
  MNEME_NEEDS_POSTGRES(server);
  const SampleLab first, second;
  const Lab shared(first.lab.root(), server.address()), other(second.lab.root(), server.address());
  const auto in_file = open_leases(first.lab, {.holder = "a"});
  ASSERT_EQ(in_file->acquire("run", 0), 1);
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { open_leases(shared, {.holder = "b"}); }),
              HasSubstr("wait until it has ended"));
  in_file->release("run", 1);

  EXPECT_EQ(open_leases(shared, {.holder = "b"})->acquire("run", 1), 2);
  EXPECT_EQ(open_leases(shared, {.holder = "c"})->acquire("run", 1), std::nullopt);
  EXPECT_EQ(open_leases(other, {.holder = "c"})->acquire("run", 0), 1) << "another lab, another run";
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { open_leases(first.lab, {.holder = "a"}); }),
              HasSubstr("MNEME_LEASES"));
}

}  // namespace
}  // namespace mneme::store
