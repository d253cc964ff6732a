// An index commit on a disk that fails at every single operation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/index.h"
#include "store/leases.h"
#include "store/sample_lab.h"
#include "support/faulty_sqlite.h"

namespace mneme::store {
namespace {

using testing::FaultySqlite;
using ::testing::IsEmpty;
using testing::SampleLab;

// Commits a second run to the index with a fault at one operation; false if the operation was never reached.
bool attempt(int code, int call, std::vector<std::string>& problems) {
  const SampleLab sample;
  const std::string first = sample.add_done({"train.seed=1"});
  { Index::open(sample.lab); }
  const std::string second = sample.add_done({"train.seed=2"});
  const auto report = [&](const std::string& what) {
    problems.push_back(what + " at operation " + std::to_string(call));
  };
  bool struck = false, success = false;
  {
    const FaultySqlite fault(code, call);
    try {
      // Opened without the refresh that would commit the run already: the database itself.
      Database database(sample.lab.index());
      Transaction transaction(database);
      Statement(database, "UPDATE runs SET seconds = 77 WHERE id = ?").bind(std::string_view(first)).run();
      transaction.commit();
      success = true;
    } catch (const SqliteError&) {
    }
    struck = FaultySqlite::struck();
  }
  {
    Database reader(sample.lab.index());
    Statement row(reader, "SELECT seconds FROM runs");
    const double seconds = row.step() ? row.real(0) : -1;
    if (success && seconds != 77) report("false success");
    if (!success && seconds != 1.5 && seconds != 77) report("the index is torn");
  }
  // Whatever happened, the directories are the truth and the index can be had again.
  Index index = Index::open(sample.lab);
  index.rebuild();
  if (index.count() != 2 || index.find(first)->seconds != 1.5 || !index.find(second)) report("a run is missing");
  return struck;
}

TEST(IndexFaults, EveryOperationOfACommitFailsOnce) {
  std::vector<std::string> problems;
  int points = 0;
  for (const int code : {SQLITE_IOERR_WRITE, SQLITE_FULL, SQLITE_IOERR_FSYNC}) {
    int call = 0;
    while (attempt(code, call, problems)) ++call;
    points += call;
  }
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_GE(points, 9);
  std::printf("%d faults placed\n", points);
}

TEST(IndexFaults, ALeaseThatCouldNotBeWrittenIsNoLease) {
  for (int call = 0; call < 12; ++call) {
    const SampleLab sample;
    open_leases(sample.lab, {.holder = "a"})->acquire("other", 0);
    bool leased = false;
    {
      const FaultySqlite fault(SQLITE_IOERR_WRITE, call);
      try {
        leased = open_leases(sample.lab, {.holder = "a"})->acquire("run", 0).has_value();
      } catch (const SqliteError&) {
      }
    }
    const auto after = open_leases(sample.lab, {.holder = "b"})->acquire("run", 0);
    if (leased) {
      EXPECT_EQ(after, std::nullopt) << call;
    }
  }
}

}  // namespace
}  // namespace mneme::store
