// Tests whose counts take minutes: `script/test --slow` runs them, a fast share of each runs always.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace mneme::testing {

// MNEME_SLOW: which share of the large counts is wanted, 1 for all; nothing or 0 for none.
inline double slow_share() {
  const char* wanted = std::getenv("MNEME_SLOW");
  return wanted ? std::atof(wanted) : 0;
}

inline int slow_count(int whole) { return std::max(1, static_cast<int>(std::lround(whole * slow_share()))); }

}  // namespace mneme::testing

#define MNEME_SLOW_TEST() \
  if (!(::mneme::testing::slow_share() > 0)) GTEST_SKIP() << "slow: run by script/test --slow"
