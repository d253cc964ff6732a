// Signals to a worker: training ends with a checkpoint (kill_test and the sweeps), everything else at once.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "store/sample_lab.h"
#include "support/worker_process.h"

namespace mneme {
namespace {

TEST(Signals, EndAMeasurementAtOnce) {
  // SIGTERM is also what a worker gets when `mneme` is gone.
  for (const int number : {SIGINT, SIGTERM}) {
    testing::WorkerProcess worker(Json{{"request", "bench_train"},
                                       {"config", testing::sample_run({}).json()},
                                       {"seconds", 30.0},
                                       {"profile", false},
                                       {"case", ""}});
    ASSERT_TRUE(worker.wait_for("ready")) << worker.error_tail();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    worker.signal(number);
    EXPECT_EQ(worker.wait_for_end(), 130) << worker.error_tail();
    for (const Json& event : worker.events) EXPECT_NE(event["event"], "measured");
  }
}

}  // namespace
}  // namespace mneme
