// How the queue of a node asks a database for runs.
#include "run/run_queue.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "store/postgres.h"
#include "store/sample_lab.h"
#include "support/postgres_server.h"

namespace mneme::run {
namespace {

using ::testing::IsEmpty;

class NodesQueue : public ::testing::Test {
 protected:
  void SetUp() override {
    MNEME_NEEDS_POSTGRES(server);
    for (int seed = 0; seed < 300; ++seed) runs.push_back(testing::sample_run({fmt::format("train.seed={}", seed)}));
    // The later ones take longer.
    for (std::size_t run = 0; run < runs.size(); ++run) costs[runs[run].id] = static_cast<double>(run);
  }
  RunQueue queue(double lease = 300) {
    return RunQueue(runs, lab, lease, "",
                    {[](std::size_t, store::RunState) {}, [](const std::string& note) { ADD_FAILURE() << note; }},
                    [this](const config::RunConfig& run) { return costs.at(run.id); });
  }
  // As the workers of a node that are all free.
  static std::vector<std::size_t> take(RunQueue& queue, std::size_t workers) {
    std::vector<std::size_t> taken;
    for (std::size_t free = workers; free > 0; --free)
      if (const auto leased = queue.next(free)) taken.push_back(leased->run);
    return taken;
  }
  // Questions in which something was given, and how many its client had asked until then: a ticket is CLIENT/QUESTION.
  std::map<std::string, int> tickets(const std::string& condition = "") {
    std::map<std::string, int> found;
    for (const auto& row :
         store::PostgresConnection(server.address()).execute("SELECT ticket FROM mneme_leases " + condition))
      found[row[0]] = std::stoi(row[0].substr(row[0].rfind('/') + 1));
    return found;
  }

  testing::PostgresServer server;
  testing::SampleLab sample;
  store::Lab lab{sample.lab.root(), server.address()};
  std::vector<config::RunConfig> runs;
  std::map<std::string, double> costs;
};

TEST_F(NodesQueue, OneQuestionGivesTheLongestRunsToAllFreeWorkers) {
  RunQueue ours = queue();
  EXPECT_EQ(take(ours, 4), (std::vector<std::size_t>{299, 298, 297, 296}));
  EXPECT_EQ(tickets().size(), 1u);
  EXPECT_EQ(take(ours, 1), std::vector<std::size_t>{295});
  EXPECT_EQ(tickets().size(), 2u);
}

TEST_F(NodesQueue, WhatOthersHaveIsPassedInAFewLargeSteps) {
  RunQueue first = queue(), second = queue();
  EXPECT_EQ(take(first, 200).size(), 200u);
  const std::string ours = tickets().begin()->first;
  EXPECT_EQ(take(second, 2), (std::vector<std::size_t>{99, 98})) << "the longest that are free";
  const auto asked = tickets(fmt::format("WHERE ticket <> '{}'", ours));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked.begin()->second, 3) << "32, 64 and 128 runs";
  // And once they are passed, nobody walks there again.
  EXPECT_EQ(take(second, 1), std::vector<std::size_t>{97});
  EXPECT_EQ(tickets("ORDER BY expires DESC LIMIT 1").begin()->second, 4);
}

TEST_F(NodesQueue, WhatADeadHolderLeftBehindComesBeforeWhatWaits) {
  RunQueue dead = queue(), ours = queue(0.4);
  EXPECT_EQ(take(dead, 1), std::vector<std::size_t>{299});
  EXPECT_EQ(take(ours, 1), std::vector<std::size_t>{298});
  store::PostgresConnection(server.address())
      .execute("UPDATE mneme_leases SET expires = clock_timestamp() - interval '1 second' WHERE run = $1",
               {runs[299].id});
  // For as long as a lease lasts after the server's start, only its holder may have a lease that ran out.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(take(ours, 1), std::vector<std::size_t>{299});
  EXPECT_EQ(take(ours, 1), std::vector<std::size_t>{297});
}

TEST_F(NodesQueue, ALeaseThatNobodyHadUseForIsGivenBack) {
  {
    RunQueue ours = queue();
    EXPECT_EQ(ours.next(8)->run, 299u);
    EXPECT_FALSE(ours.empty());
    ours.release({299, 1});
  }
  EXPECT_THAT(tickets("WHERE expires > clock_timestamp()"), IsEmpty());
  RunQueue other = queue();
  EXPECT_EQ(take(other, 8).size(), 8u);
}

TEST_F(NodesQueue, LooksAtOthersLessOftenTheMoreTheyAre) {
  EXPECT_EQ(look_period(300, 10), 5);
  EXPECT_EQ(look_period(300, 2000), 20);
  EXPECT_EQ(look_period(300, 1'000'000), 75) << "every holder renews that often";
  EXPECT_EQ(look_period(4, 10), 0.3);
}

}  // namespace
}  // namespace mneme::run
