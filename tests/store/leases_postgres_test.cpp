#include "store/leases_postgres.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

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
  }
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
