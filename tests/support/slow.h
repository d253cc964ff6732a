// Tests whose counts take minutes: `script/test --slow` runs them, a fast share of each runs always.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace mneme::testing {

inline bool slow_tests_wanted() {
  const char* wanted = std::getenv("MNEME_SLOW");
  return wanted && *wanted;
}

}  // namespace mneme::testing

#define MNEME_SLOW_TEST() \
  if (!::mneme::testing::slow_tests_wanted()) GTEST_SKIP() << "slow: run by script/test --slow"
