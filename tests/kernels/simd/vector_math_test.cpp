// The vector functions over the whole range of float: every 1009th bit pattern, on every SIMD target. What is promised
// and what was measured is the table in docs/accuracy.md, which this test holds to the numbers below.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "core/files.h"
#include "kernels/simd/dispatch.h"
#include "kernels/targets.h"
#include "support/places.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/vector_math_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// `count` is a multiple of every vector's length.
template <class Function>
HWY_INLINE void map(const float* x, std::size_t count, float* y, const Function& function) {
  const hn::ScalableTag<float> d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) hn::StoreU(function(d, hn::LoadU(d, x + i)), d, y + i);
}

void decay_exp_simd(const float* x, std::size_t count, float* y) {
  map(x, count, y, [](auto d, auto v) HWY_ATTR { return decay_exp(d, v); });
}
void sigmoid_simd(const float* x, std::size_t count, float* y) {
  map(x, count, y, [](auto d, auto v) HWY_ATTR { return sigmoid(d, v); });
}
void softplus_simd(const float* x, std::size_t count, float* y) {
  map(x, count, y, [](auto d, auto v) HWY_ATTR { return softplus(d, v).value; });
}
void softplus_slope_simd(const float* x, std::size_t count, float* y) {
  map(x, count, y, [](auto d, auto v) HWY_ATTR { return softplus(d, v).slope; });
}
void distribution_simd(const float* x, std::size_t count, float* y) {
  map(x, count, y, [](auto d, auto v) HWY_ATTR { return normal(d, v).distribution; });
}
void density_simd(const float* x, std::size_t count, float* y) {
  map(x, count, y, [](auto d, auto v) HWY_ATTR { return normal(d, v).density; });
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(decay_exp_simd);
HWY_EXPORT(sigmoid_simd);
HWY_EXPORT(softplus_simd);
HWY_EXPORT(softplus_slope_simd);
HWY_EXPORT(distribution_simd);
HWY_EXPORT(density_simd);

namespace {

constexpr std::uint64_t kStride = 1009;
constexpr std::size_t kBatch = 4096;

double sigmoid_of(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

struct Function {
  const char* name;  // in the table
  bool relative;     // of the value, where that is a normal float; else absolute
  double promise;
  float from, to;  // where it is promised
  void (*simd)(const float*, std::size_t, float*);
  double (*exact)(double);
};

constexpr float kLargest = std::numeric_limits<float>::max();

// A function pointer that is called for the target in use.
template <int N>
void dispatched(const float* x, std::size_t count, float* y) {
  if constexpr (N == 0) HWY_DYNAMIC_DISPATCH(decay_exp_simd)(x, count, y);
  if constexpr (N == 1) HWY_DYNAMIC_DISPATCH(sigmoid_simd)(x, count, y);
  if constexpr (N == 2) HWY_DYNAMIC_DISPATCH(softplus_simd)(x, count, y);
  if constexpr (N == 3) HWY_DYNAMIC_DISPATCH(softplus_slope_simd)(x, count, y);
  if constexpr (N == 4) HWY_DYNAMIC_DISPATCH(distribution_simd)(x, count, y);
  if constexpr (N == 5) HWY_DYNAMIC_DISPATCH(density_simd)(x, count, y);
}

const Function kFunctions[] = {
    {"decay_exp", true, 2e-7, -kLargest, 0, dispatched<0>, [](double x) { return std::exp(x); }},
    {"sigmoid", true, 4e-7, -kLargest, kLargest, dispatched<1>, sigmoid_of},
    {"softplus value", true, 4e-7, -kLargest, kLargest, dispatched<2>,
     [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }},
    {"softplus slope", true, 4e-7, -kLargest, kLargest, dispatched<3>, sigmoid_of},
    {"normal distribution", false, 2e-7, -kLargest, kLargest, dispatched<4>,
     [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }},
    {"normal density", false, 2e-7, -kLargest, kLargest, dispatched<5>,
     [](double x) { return std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2; }},
};

struct Worst {
  double error = 0;
  float at = 0;
};

// Functions are 0 where the exact value is below exp(-87): nearly the smallest normal float.
constexpr double kSmallest = 1.7e-38;

double error_of(const Function& function, float x, float y) {
  const double exact = function.exact(x), difference = std::abs(static_cast<double>(y) - exact);
  if (std::isnan(y)) return INFINITY;
  if (!function.relative) return difference;
  return exact < kSmallest ? (difference <= kSmallest ? 0 : INFINITY) : difference / exact;
}

Worst worst_of(const Function& function) {
  std::vector<float> x(kBatch), y(kBatch);
  Worst worst;
  std::size_t filled = 0;
  const auto run = [&] {
    std::fill(x.begin() + static_cast<std::ptrdiff_t>(filled), x.end(), 0.0F);
    function.simd(x.data(), kBatch, y.data());
    for (std::size_t i = 0; i < filled; ++i)
      if (const double error = error_of(function, x[i], y[i]); error > worst.error) worst = {error, x[i]};
    filled = 0;
  };
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += kStride) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!(value >= function.from && value <= function.to)) continue;  // NaN too
    x[filled++] = value;
    if (filled == kBatch) run();
  }
  run();
  return worst;
}

KERNEL_TEST(KernelsVectorMath, IsExactOverTheWholeRangeOfFloat) {
  for (const Function& function : kFunctions) {
    const Worst worst = worst_of(function);
    EXPECT_LE(worst.error, function.promise) << function.name << " at " << worst.at;
    EXPECT_GT(worst.error, 1e-9) << function.name << ": nothing was measured";
    ::testing::Test::RecordProperty(fmt::format("{} {}", function.name, simd_target()),
                                    fmt::format("{:.2g} at {:g}", worst.error, worst.at));
  }
}

KERNEL_TEST(KernelsVectorMath, EndsOfTheRange) {
  std::vector<float> x(16, -INFINITY), y(16);
  for (const Function& function : kFunctions) {
    std::fill(x.begin(), x.end(), -INFINITY);
    function.simd(x.data(), x.size(), y.data());
    EXPECT_EQ(y[0], 0.0F) << function.name;
    std::fill(x.begin(), x.end(), -0.0F);
    function.simd(x.data(), x.size(), y.data());
    EXPECT_NEAR(y[0], function.exact(0), 2e-7) << function.name;
  }
  // Divergence must not be hidden: NaN stays NaN where a state or a score passes through.
  std::fill(x.begin(), x.end(), std::numeric_limits<float>::quiet_NaN());
  for (const std::size_t function : {0, 1, 2, 3}) {
    kFunctions[function].simd(x.data(), x.size(), y.data());
    EXPECT_TRUE(std::isnan(y[0])) << kFunctions[function].name;
  }
}

// A series that is cut one term short, a wrong constant of the reduction: both are found.
TEST(KernelsVectorMath, PlantedErrorsAreFound) {
  Function wrong = kFunctions[0];
  wrong.simd = [](const float* x, std::size_t count, float* y) {
    dispatched<0>(x, count, y);
    for (std::size_t i = 0; i < count; ++i)
      if (x[i] < -20 && x[i] > -21) y[i] *= 1 + 4e-7F;
  };
  EXPECT_GT(worst_of(wrong).error, wrong.promise);
}

TEST(KernelsVectorMath, ThePageStatesWhatIsPromised) {
  const std::string page = read_file(Path(source_directory()) / "docs/accuracy.md");
  for (const Function& function : kFunctions)
    EXPECT_THAT(page, ::testing::HasSubstr(fmt::format("| {} | {} | {:.0e} |", function.name,
                                                       function.relative ? "relative" : "absolute", function.promise)));
}

}  // namespace
}  // namespace mneme::kernels
#endif
