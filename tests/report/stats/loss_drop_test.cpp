#include "report/stats/loss_drop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace mneme::report {
namespace {

using Curve = std::function<double(double)>;

std::vector<MetricPoint> run(const Curve& loss, const Curve& accuracy, int evaluations = 41) {
  std::vector<MetricPoint> points;
  for (int i = 0; i < evaluations; ++i) {
    const double step = 50.0 * i;
    points.push_back({.step = 50 * i, .train_loss = loss(step), .loss = loss(step), .accuracy = accuracy(step)});
  }
  return points;
}

// From `high` to `low` around `centre`, over about six times `width` steps.
Curve fall(double high, double low, double centre, double width) {
  return [=](double step) { return low + (high - low) / (1 + std::exp((step - centre) / width)); };
}
Curve constant(double value) {
  return [=](double) { return value; };
}

TEST(LossDrop, ADropWithoutAccuracyIsABump) {
  const auto drops = find_loss_drops(run(fall(8, 6, 1000, 40), constant(0.02)));
  ASSERT_EQ(drops.size(), 1u);
  EXPECT_TRUE(drops[0].bump);
  EXPECT_GE(drops[0].from, 700);
  EXPECT_LT(drops[0].from, 1000);
  EXPECT_GT(drops[0].to, 1000);
  EXPECT_LE(drops[0].to, 1300);
  EXPECT_NEAR(drops[0].loss_from, 8, 0.1);
  EXPECT_NEAR(drops[0].loss_to, 6, 0.1);
  EXPECT_EQ(drops[0].gain, 0);
}

TEST(LossDrop, ADropWithAccuracyIsNone) {
  const auto drops = find_loss_drops(run(fall(8, 1, 1000, 40), fall(0.02, 0.9, 1000, 40)));
  ASSERT_EQ(drops.size(), 1u);
  EXPECT_FALSE(drops[0].bump);
  EXPECT_NEAR(drops[0].gain, 0.88, 0.02);
}

TEST(LossDrop, AccuracyThatComesAndGoesCounts) {
  const Curve peak = [](double step) { return step > 950 && step < 1060 ? 0.5 : 0.02; };
  const auto drops = find_loss_drops(run(fall(8, 6, 1000, 40), peak));
  ASSERT_EQ(drops.size(), 1u);
  EXPECT_FALSE(drops[0].bump);
}

TEST(LossDrop, ASmoothFallFromTheStartIsNoDrop) {
  EXPECT_TRUE(find_loss_drops(run([](double step) { return 8 * std::exp(-step / 800); }, constant(0.02))).empty());
  EXPECT_TRUE(find_loss_drops(run(constant(8), constant(0.02))).empty());
}

TEST(LossDrop, ARiseOrAShallowFallIsNoDrop) {
  EXPECT_TRUE(find_loss_drops(run(fall(6, 8, 1000, 40), constant(0.02))).empty());
  EXPECT_TRUE(find_loss_drops(run(fall(8, 7.7, 1000, 10), constant(0.02))).empty());
}

TEST(LossDrop, OneWildEvaluationIsNoDrop) {
  auto points = run(constant(8), constant(0.02));
  points[20].train_loss = 2;
  EXPECT_TRUE(find_loss_drops(points).empty());
}

TEST(LossDrop, TwoStepsAreTwoDrops) {
  const Curve first = fall(3, 0, 500, 20), second = fall(3, 0, 1500, 20);
  const auto drops =
      find_loss_drops(run([&](double s) { return 2 + first(s) + second(s); }, fall(0.02, 0.9, 1500, 20)));
  ASSERT_EQ(drops.size(), 2u);
  EXPECT_TRUE(drops[0].bump);
  EXPECT_FALSE(drops[1].bump);
}

TEST(LossDrop, ADropThatTheRunEndsInEndsThere) {
  const auto drops = find_loss_drops(run(fall(8, 2, 2000, 100), constant(0)));
  ASSERT_EQ(drops.size(), 1u);
  EXPECT_EQ(drops[0].to, 2000);
}

TEST(LossDrop, FewOrInfinitePointsAreNoDrop) {
  EXPECT_TRUE(find_loss_drops({}).empty());
  EXPECT_TRUE(find_loss_drops(run(fall(8, 1, 50, 10), constant(0), 3)).empty());
  EXPECT_TRUE(find_loss_drops(run(constant(std::numeric_limits<double>::quiet_NaN()), constant(0))).empty());
}

}  // namespace
}  // namespace mneme::report
