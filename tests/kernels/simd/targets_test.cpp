// The tests of kernels find an error that only one SIMD target has.
#include "kernels/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/kernel_arrays.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/targets_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// y = 2 x, but for the last element with AVX2.
void twice_simd(const float* x, std::size_t count, float* y) {
  for (std::size_t i = 0; i < count; ++i) y[i] = 2 * x[i];
#if HWY_TARGET == HWY_AVX2
  y[count - 1] = x[count - 1];
#endif
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(twice_simd);

namespace {

using mneme::testing::for_each_target;
using mneme::testing::relative_error;

TEST(KernelsTargets, AnErrorOfAVX2AloneIsFound) {
  std::vector<std::string> wrong, tried;
  for_each_target([&] {
    const std::vector<float> x = {1, 2, 3}, expected = {2, 4, 6};
    std::vector<float> y(3);
    HWY_DYNAMIC_DISPATCH(twice_simd)(x.data(), x.size(), y.data());
    tried.push_back(simd_target());
    if (relative_error(y, expected) > 1e-6) wrong.push_back(simd_target());
  });
  if (std::find(tried.begin(), tried.end(), "AVX2") == tried.end()) GTEST_SKIP() << "this processor has no AVX2";
  EXPECT_THAT(wrong, ::testing::ElementsAre("AVX2"));
  EXPECT_GE(tried.size(), 3U) << "an error of one target only: the others agree";
}

}  // namespace
}  // namespace mneme::kernels
#endif
