#include "cluster/requeue.h"

#include <gtest/gtest.h>

namespace mneme::cluster {
namespace {

constexpr std::int64_t kMost = 5;

TEST(Requeue, GoesOnWhileWorkGetsDone) {
  TaskHistory history;
  for (history.starts = 1; history.starts <= kMost; ++history.starts) {
    const Requeue requeue = decide_requeue(history, {.ran_out = true, .missing = true, .progressed = true}, kMost);
    EXPECT_TRUE(requeue.wanted) << history.starts;
    EXPECT_FALSE(requeue.elsewhere);
  }
  EXPECT_FALSE(decide_requeue(history, {.ran_out = true, .missing = true, .progressed = true}, kMost).wanted)
      << "bounded";
}

TEST(Requeue, EndsWhenNothingIsTrained) {
  TaskHistory history{.starts = 1};
  const TaskEnd barren{.ran_out = true, .missing = true};
  EXPECT_TRUE(decide_requeue(history, barren, kMost).wanted) << "a first time is bad luck";
  EXPECT_FALSE(decide_requeue(history, barren, kMost).wanted);
  TaskHistory other{.starts = 1};
  EXPECT_TRUE(decide_requeue(other, barren, kMost).wanted);
  EXPECT_TRUE(decide_requeue(other, {.ran_out = true, .missing = true, .progressed = true}, kMost).wanted);
  EXPECT_EQ(other.barren, 0) << "forgiven";
}

TEST(Requeue, LeavesABrokenNodeAndGivesUpOnAThird) {
  TaskHistory history{.starts = 1};
  const TaskEnd broken{.missing = true, .broken = true};
  for (int node = 1; node < kMostBroken; ++node) {
    const Requeue requeue = decide_requeue(history, broken, 50);
    EXPECT_TRUE(requeue.wanted && requeue.elsewhere) << node;
  }
  EXPECT_FALSE(decide_requeue(history, broken, 50).wanted);
}

TEST(Requeue, NeverAfterACancelOrTheEndOrOutsideOfSlurm) {
  TaskHistory history{.starts = 1};
  EXPECT_FALSE(
      decide_requeue(history, {.ran_out = true, .missing = true, .progressed = true, .cancelled = true}, kMost).wanted);
  EXPECT_FALSE(decide_requeue(history, {.ran_out = true, .progressed = true}, kMost).wanted);
  EXPECT_FALSE(decide_requeue(history, {.missing = true, .progressed = true}, kMost).wanted)
      << "others train what is missing";
  EXPECT_FALSE(
      decide_requeue(history, {.ran_out = true, .missing = true, .progressed = true, .ours = false}, kMost).wanted);
}

TEST(Requeue, NeverByAProcessWhoseTaskWasStartedAgain) {
  TaskHistory history{.starts = 1};
  EXPECT_FALSE(
      decide_requeue(history, {.ran_out = true, .missing = true, .progressed = true, .superseded = true}, kMost)
          .wanted);
  EXPECT_FALSE(decide_requeue(history, {.missing = true, .broken = true, .superseded = true}, kMost).wanted);
}

TEST(Requeue, RemembersInItsFile) {
  const TaskHistory history{.starts = 3, .barren = 1, .broken = 2};
  const TaskHistory read = TaskHistory::from(history.json());
  EXPECT_EQ(read.starts, 3);
  EXPECT_EQ(read.barren, 1);
  EXPECT_EQ(read.broken, 2);
}

}  // namespace
}  // namespace mneme::cluster
