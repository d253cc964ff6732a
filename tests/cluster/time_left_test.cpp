#include "cluster/time_left.h"

#include <gtest/gtest.h>

namespace mneme::cluster {
namespace {

using namespace std::chrono_literals;

TEST(TimeLeft, StartsWhatFitsAndCutsOnlyWhatMustBeCut) {
  const TimeLeft::Clock::time_point start{};
  const TimeLeft time(3600, {{"short", 600}, {"half", 1800}, {"long", 7200}}, start);
  EXPECT_TRUE(time.fits("half", 1, start));
  EXPECT_TRUE(time.fits("long", 1, start)) << "it fits no job: it is trained in pieces";
  EXPECT_TRUE(time.fits("half", 1, start + 1600s));
  EXPECT_FALSE(time.fits("half", 1, start + 1800s)) << "a whole job can take it in one piece";
  EXPECT_TRUE(time.fits("half", 0.5, start + 2400s)) << "half of it is done";
  EXPECT_TRUE(time.fits("short", 1, start + 2900s));
  EXPECT_FALSE(time.fits("short", 1, start + 3100s));
  EXPECT_TRUE(time.fits("long", 1, start + 3100s)) << "a piece of some minutes is worth it";
  EXPECT_FALSE(time.fits("long", 1, start + 3300s));
  EXPECT_FALSE(time.fits("long", 0.4, start + 1000s)) << "its rest fits into the next job";
  EXPECT_TRUE(time.fits("nothing is known of it", 1, start + 3500s));
  EXPECT_TRUE(time.fits_whole("short", start + 2900s));
  EXPECT_FALSE(time.fits_whole("short", start + 3100s));
  EXPECT_FALSE(time.fits_whole("long", start)) << "how much is left of it counts";
  EXPECT_TRUE(time.fits_whole("nothing is known of it", start));
}

}  // namespace
}  // namespace mneme::cluster
