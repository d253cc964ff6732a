// Kernels are compiled once per SIMD target, and a machine runs the best one only. Tests run them all: the widest, the
// narrowest and every one between that this processor has.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <functional>

namespace mneme::testing {

// While it lives, kernels are dispatched to one target.
class ScopedTarget {
 public:
  explicit ScopedTarget(std::int64_t target) { hwy::SetSupportedTargetsForTest(target); }
  ~ScopedTarget() { hwy::SetSupportedTargetsForTest(0); }
  ScopedTarget(const ScopedTarget&) = delete;
  ScopedTarget& operator=(const ScopedTarget&) = delete;
};

inline void for_each_target(const std::function<void()>& body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const ScopedTarget scope(target);
    SCOPED_TRACE(hwy::TargetName(target));
    body();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace mneme::testing

// A TEST whose body runs on every target.
#define KERNEL_TEST(suite, name)                                                   \
  static void suite##name##OnOneTarget();                                          \
  TEST(suite, name) { mneme::testing::for_each_target(suite##name##OnOneTarget); } \
  static void suite##name##OnOneTarget()
