#include "tasks/protocols.h"

#include <gtest/gtest.h>

#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

constexpr std::int32_t kNo = kUnlabelled;
using Row = std::vector<std::int32_t>;

TEST(TokenScore, CountsTokensRowsAndPositions) {
  TokenScore score;
  score.add(Row{1, 2, 3, 4}, Row{1, kNo, 9, 9});      // one of three
  score.add(Row{5, 6, 7, 8}, Row{kNo, kNo, 7, kNo});  // one of one
  score.add(Row{0, 0}, Row{kNo, kNo});                // nothing asked: no row
  EXPECT_DOUBLE_EQ(score.accuracy(), 2.0 / 4);
  EXPECT_DOUBLE_EQ(score.example_accuracy(), (1.0 / 3 + 1) / 2);
  EXPECT_DOUBLE_EQ(score.exact_match(), 0.5);
  EXPECT_EQ(score.examples(), 2);
  ASSERT_EQ(score.by_position().size(), 4U);
  EXPECT_EQ(score.by_position()[0].right, 1);
  EXPECT_EQ(score.by_position()[1].of, 0);
  EXPECT_DOUBLE_EQ(score.by_position()[2].value(), 0.5);
  EXPECT_DOUBLE_EQ(score.by_position()[3].value(), 0.0);
}

TEST(TokenScore, RowAndTokenAccuracyAgreeWhenAllRowsAskTheSame) {
  const auto task = testing::make_task("mqar", {"length=32", "pairs=4", "vocab=64"});
  TokenScore score;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Example example = testing::make_example(*task, i);
    auto predictions = example.labels;
    Random random(1, i);
    for (auto& prediction : predictions) prediction += static_cast<std::int32_t>(random.below(2));
    score.add(predictions, example.labels);
  }
  EXPECT_NEAR(score.example_accuracy(), score.accuracy(), 1e-12);
  EXPECT_GT(score.accuracy(), 0.3);
  EXPECT_LT(score.exact_match(), 0.3);
}

TEST(TokenScore, IsZeroForNothing) {
  EXPECT_EQ(TokenScore().accuracy(), 0.0);
  EXPECT_EQ(TokenScore().example_accuracy(), 0.0);
}

TEST(DistanceScore, BinsDouble) {
  DistanceScore score;
  //            distance:  1   2   3        4   7
  score.add(Row{0, 1, 1, 1, 1, 1, 1, 1}, Row{kNo, 1, 1, 0, 1, kNo, kNo, 0}, Row{-1, 0, 0, 0, 0, -1, -1, 0});
  score.add(Row{1}, Row{1}, Row{-1});  // no source: not counted
  const auto bins = score.bins();
  ASSERT_EQ(bins.size(), 3U);
  EXPECT_EQ(bins[0].from, 0);
  EXPECT_EQ(bins[0].to, 2);
  EXPECT_EQ(bins[0].share.of, 1);
  EXPECT_EQ(bins[1].from, 2);
  EXPECT_EQ(bins[1].to, 4);
  EXPECT_DOUBLE_EQ(bins[1].share.value(), 0.5);
  EXPECT_EQ(bins[2].from, 4);
  EXPECT_EQ(bins[2].share.of, 2);
}

// A model that forgets what is more than eight positions away shows it.
TEST(DistanceScore, ShowsAForgetfulModel) {
  const auto task = testing::make_task("mqar", {"length=64", "pairs=4", "vocab=128", "power=1"});
  DistanceScore score;
  for (std::uint64_t i = 0; i < 300; ++i) {
    Example example = testing::make_example(*task, i);
    const auto sources = task->sources(example.view());
    auto predictions = example.labels;
    for (std::size_t t = 0; t < predictions.size(); ++t)
      if (sources[t] >= 0 && t - static_cast<std::size_t>(sources[t]) >= 8) predictions[t] = 0;
    score.add(predictions, example.labels, sources);
  }
  for (const auto& bin : score.bins()) EXPECT_EQ(bin.share.value(), bin.from < 8 ? 1.0 : 0.0) << bin.from;
}

TEST(StringScore, ScoresEachStringOfAPackedRow) {
  constexpr std::int32_t kStop = 9;
  StringScore score(kStop);
  score.add(Row{1, 2, 0, 0, 3, 0, 9}, Row{1, 2, kStop, kNo, 3, 4, kStop});
  EXPECT_EQ(score.strings(), 2);
  EXPECT_DOUBLE_EQ(score.string_accuracy(), 0.5);  // the wrong stop of the first does not count
  EXPECT_DOUBLE_EQ(score.character_accuracy(), 0.75);
}

TEST(ReachedLength, StopsAtTheFirstFailure) {
  EXPECT_EQ(reached_length({{8, 0.99}, {16, 0.95}, {24, 0.89}, {32, 0.97}}), 16);
  EXPECT_EQ(reached_length({{32, 0.97}, {8, 0.99}, {16, 0.95}}), 32) << "in any order";
  EXPECT_EQ(reached_length({{8, 0.90}, {16, 1.0}}), 0) << "90 % must be exceeded";
  EXPECT_EQ(reached_length({{8, 0.6}, {16, 0.4}}, 0.5), 8);
  EXPECT_EQ(reached_length({}), 0);
}

TEST(EnoughSeeds, IsThreeOfFive) {
  EXPECT_TRUE(enough_seeds(3, 5));
  EXPECT_FALSE(enough_seeds(2, 5));
  EXPECT_TRUE(enough_seeds(2, 3));
  EXPECT_FALSE(enough_seeds(1, 2));
  EXPECT_FALSE(enough_seeds(0, 0));
}

}  // namespace
}  // namespace mneme::tasks
