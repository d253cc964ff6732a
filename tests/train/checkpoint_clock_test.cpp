#include "train/checkpoint_clock.h"

#include <gtest/gtest.h>

#include "core/random.h"

namespace mneme::train {
namespace {

struct Simulated {
  double share = 0;  // of the run's time that went into checkpoints, the one at the end included
  int checkpoints = 0;
  double longest = 0;  // without a checkpoint
};

// A run whose steps take a tenth of a second, on a disk whose saves take `cost` seconds, give or take `spread`.
Simulated simulate(double length, double cost, double spread, std::int64_t bytes) {
  CheckpointClock clock(bytes);
  Random random(stream_key(3, "saves"), static_cast<std::uint64_t>(cost * 1000));
  const auto save = [&](double& now) {
    const double begin = now;
    now += cost * (1 + spread * (2 * random.uniform() - 1));
    clock.saved(begin, now);
  };
  Simulated result;
  double last = 0, now = 0;
  for (double trained = 0; trained < length; trained += 0.1) {
    now += 0.1;
    if (!clock.due(now)) continue;
    save(now);
    result.longest = std::max(result.longest, now - last);
    last = now;
  }
  save(now);
  result.share = clock.spent() / now;
  result.checkpoints = clock.count();
  return result;
}

TEST(CheckpointClock, StaysBelowItsShareWhateverASaveCosts) {
  double worst = 0;
  for (const double cost : {0.001, 0.01, 0.1, 0.5, 1.0, 5.0, 20.0, 60.0})
    for (const double spread : {0.0, 0.3}) {
      const auto bytes = static_cast<std::int64_t>(cost * CheckpointClock::kSlowBytes);
      const Simulated result = simulate(20000, cost, spread, bytes);
      worst = std::max(worst, result.share);
      EXPECT_LE(result.share, 0.035) << cost;
      EXPECT_GE(result.checkpoints, 2) << cost;
    }
  std::printf("most time spent on checkpoints: %.2f %%\n", 100 * worst);
}

TEST(CheckpointClock, ACheapSaveComesEveryPeriod) {
  const Simulated result = simulate(1000, 0.01, 0, 1000);
  EXPECT_LE(result.longest, CheckpointClock::kPeriod + 0.3);
  EXPECT_GE(result.checkpoints, 49);
}

TEST(CheckpointClock, ADearSaveWaitsUntilItIsWorthIt) {
  CheckpointClock clock(static_cast<std::int64_t>(10 * CheckpointClock::kSlowBytes));
  EXPECT_FALSE(clock.due(20));
  EXPECT_FALSE(clock.due(600));
  EXPECT_TRUE(clock.due(700));
}

}  // namespace
}  // namespace mneme::train
