#include "run/work_estimate.h"

#include <gtest/gtest.h>

#include "store/sample_lab.h"

namespace mneme::run {
namespace {

using std::chrono::seconds;
using testing::sample_run;

TEST(WorkEstimate, FollowsTheWorkThatWasDone) {
  const std::vector<config::RunConfig> runs{sample_run({"train.seed=1", "train.steps=100"}),
                                            sample_run({"train.seed=2", "train.steps=300"})};
  const auto start = WorkEstimate::Clock::now();
  WorkEstimate estimate(runs, start);
  EXPECT_FALSE(estimate.left(start + seconds(1)));
  estimate.at_step(runs[0], 0, false);
  estimate.at_step(runs[0], 50, true);
  EXPECT_NEAR(*estimate.left(start + seconds(10)), 70, 1e-6);
  // Ended early, by its threshold: the rest of its budget is no longer ahead.
  estimate.ended(runs[0]);
  EXPECT_NEAR(*estimate.left(start + seconds(10)), 60, 1e-6);
  estimate.ended(runs[1]);
  EXPECT_EQ(*estimate.left(start + seconds(20)), 0);
}

TEST(WorkEstimate, WhatACheckpointHeldWasNotDoneNow) {
  const std::vector<config::RunConfig> runs{sample_run({"train.steps=100"})};
  const auto start = WorkEstimate::Clock::now();
  WorkEstimate estimate(runs, start);
  estimate.at_step(runs[0], 60, false);
  EXPECT_FALSE(estimate.left(start + seconds(1)));
  estimate.at_step(runs[0], 80, true);
  EXPECT_NEAR(*estimate.left(start + seconds(10)), 10, 1e-6);
}

}  // namespace
}  // namespace mneme::run
