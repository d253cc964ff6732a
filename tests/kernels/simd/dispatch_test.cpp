#include "kernels/simd/dispatch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/targets.h"

namespace mneme::kernels {
namespace {

using mneme::testing::ScopedTarget;

TEST(KernelsDispatch, NamesTheTargetThatRuns) {
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  EXPECT_EQ(simd_target(), hwy::TargetName(targets.front()));
  for (const std::int64_t target : targets) {
    const ScopedTarget scope(target);
    EXPECT_EQ(simd_target(), hwy::TargetName(target));
  }
  const ScopedReference reference;
  EXPECT_EQ(simd_target(), "reference");
}

TEST(KernelsDispatch, TestsRunOnEveryTarget) {
  std::vector<std::string> seen;
  mneme::testing::for_each_target([&] { seen.push_back(simd_target()); });
  EXPECT_EQ(seen.size(), hwy::SupportedAndGeneratedTargets().size());
  EXPECT_TRUE(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
#ifdef __x86_64__
  EXPECT_GE(seen.size(), 2U) << "SSE4 and the baseline, on every processor since 2008";
#endif
}

}  // namespace
}  // namespace mneme::kernels
