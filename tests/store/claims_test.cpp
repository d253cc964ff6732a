#include "store/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/claim_stores.h"
#include "store/sample_lab.h"
#include "support/expect_error.h"

namespace mneme::store {
namespace {

using testing::EveryClaimStore;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SampleLab;
using testing::StoreKind;
using testing::TemporaryDirectory;

using Claiming = EveryClaimStore;
INSTANTIATE_TEST_SUITE_P(, Claiming, ::testing::Values(StoreKind::sqlite, StoreKind::postgres), testing::name_of);

TEST_P(Claiming, HasOneHolderAtATimeAndNumbersRise) {
  const auto a = store->open("a"), b = store->open("b");
  EXPECT_EQ(a->claim("run", 0), 1);
  EXPECT_EQ(b->claim("run", 0), std::nullopt);
  EXPECT_EQ(a->claim("run", 0), std::nullopt) << "not even its holder claims twice";
  EXPECT_EQ(b->claim("other", 5), 6) << "above what the directory has seen";
  a->release("run", 1);
  EXPECT_EQ(b->claim("run", 0), 2);
  a->release("run", 1);
  EXPECT_EQ(a->claim("run", 0), std::nullopt) << "an old release gives nothing free";
  b->release("run", 2);
  EXPECT_EQ(a->claim("run", 7), 8);
}

TEST_P(Claiming, EndsWithALeaseThatIsNotRenewed) {
  const auto a = store->open("a", 60), b = store->open("b", 60);
  EXPECT_EQ(a->claim("run", 0), 1);
  store->pass(50);
  EXPECT_TRUE(a->renew("run", 1));
  store->pass(50);
  EXPECT_EQ(b->claim("run", 0), std::nullopt);
  EXPECT_EQ(b->live().size(), 1u);
  store->pass(11);
  EXPECT_THAT(b->live(), IsEmpty());
  EXPECT_EQ(b->claim("run", 0), 2);
  EXPECT_FALSE(a->renew("run", 1)) << "lost";
  EXPECT_FALSE(a->renew("run", 2)) << "somebody else's";
  EXPECT_EQ(a->seize("run", 0), 3) << "for cancelling";
  EXPECT_FALSE(b->renew("run", 2));
  EXPECT_TRUE(a->renew("run", 3));
  EXPECT_EQ(a->seize("new", 4), 5) << "also what nobody had";
}

TEST_P(Claiming, WaitsForNoProcessThatDiedHere) {
  const pid_t child = ::fork();
  if (child == 0) {
    store->open(our_holder(), 1e6)->claim("run", 0);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_gone(our_holder()));
  EXPECT_FALSE(is_gone("elsewhere/1234/1/1")) << "of other machines nothing is known";
  const auto ours = store->open(our_holder());
  EXPECT_THAT(ours->live(), IsEmpty());
  EXPECT_EQ(ours->claim("run", 0), 2);
  EXPECT_EQ(ours->live().size(), 1u);
}

TEST_P(Claiming, KeepsHostileNamesApart) {
  const std::vector<std::string> names = {"",        "'",        "'; DROP TABLE claims; DROP TABLE mneme_claims; --",
                                          "\"run\"", "$1",       "?1",
                                          "%s\\",    "run\nrun", "\xc3\xa9\xf0\x9f\x92\xbe",
                                          "NULL",    " run",     std::string(2000, 'x')};
  const auto claims = store->open("o'holder; \\");
  for (const std::string& name : names) EXPECT_EQ(claims->claim(name, 0), 1) << name;
  std::vector<std::string> sorted = names, live;
  std::sort(sorted.begin(), sorted.end());
  for (const ClaimRow& claim : claims->live()) {
    live.push_back(claim.run);
    EXPECT_EQ(claim.holder, "o'holder; \\");
  }
  EXPECT_EQ(live, sorted);
  for (const std::string& name : names) EXPECT_TRUE(claims->renew(name, 1)) << name;
}

TEST(Claims, ADamagedFileIsMadeAgain) {
  const TemporaryDirectory directory;
  write_file_atomically(directory / "claims.db", std::string(5000, 'x'));
  EXPECT_EQ(open_sqlite_claims(directory / "claims.db", {.holder = "a"})->claim("run", 7), 8);
}

TEST(Claims, OfALabAreInOnePlace) {
  testing::PostgresServer server;
  MNEME_NEEDS_POSTGRES(server);
  const SampleLab first, second;
  const Lab shared(first.lab.root(), server.address()), other(second.lab.root(), server.address());
  const auto in_file = open_claims(first.lab, {.holder = "a"});
  ASSERT_EQ(in_file->claim("run", 0), 1);
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { open_claims(shared, {.holder = "b"}); }),
              HasSubstr("expected it to end first"));
  in_file->release("run", 1);

  EXPECT_EQ(open_claims(shared, {.holder = "b"})->claim("run", 1), 2);
  EXPECT_EQ(open_claims(shared, {.holder = "c"})->claim("run", 1), std::nullopt);
  EXPECT_EQ(open_claims(other, {.holder = "c"})->claim("run", 0), 1) << "another lab, another run";
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { open_claims(first.lab, {.holder = "a"}); }),
              HasSubstr("MNEME_CLAIMS"));
}

}  // namespace
}  // namespace mneme::store
