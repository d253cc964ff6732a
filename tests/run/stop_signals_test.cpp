#include "run/stop_signals.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

namespace mneme::run {
namespace {

TEST(StopSignals, AreCountedWhileItLives) {
  struct sigaction before {};
  ::sigaction(SIGINT, nullptr, &before);
  {
    StopSignals signals;
    EXPECT_EQ(signals.take(), 0);
    ::raise(SIGINT);
    ::raise(SIGTERM);
    pollfd poll{signals.descriptor(), POLLIN, 0};
    EXPECT_EQ(::poll(&poll, 1, 0), 1);
    EXPECT_EQ(signals.take(), 2);
    EXPECT_EQ(signals.take(), 0);
  }
  struct sigaction after {};
  ::sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

}  // namespace
}  // namespace mneme::run
