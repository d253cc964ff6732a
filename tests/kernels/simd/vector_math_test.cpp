// Functions of vectors against double precision, over the whole range of float32. The header has the table of what was
// found; here are its limits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kernels/kernel_arrays.h"
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/vector_math_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// y[i] = body(x[i]); whole vectors, then single lanes.
template <class Body>
void map_floats(const float* x, std::size_t count, float* y, const Body& body) {
  const hn::ScalableTag<float> wide;
  const hn::CappedTag<float, 1> one;
  std::size_t i = 0;
  for (; i + hn::Lanes(wide) <= count; i += hn::Lanes(wide))
    hn::StoreU(body(wide, hn::LoadU(wide, x + i)), wide, y + i);
  for (; i < count; ++i) hn::StoreU(body(one, hn::LoadU(one, x + i)), one, y + i);
}

void decay_exp_simd(const float* x, std::size_t count, float* y) {
  map_floats(x, count, y, [](auto d, auto v) HWY_ATTR { return decay_exp(d, v); });
}
void sigmoid_simd(const float* x, std::size_t count, float* y) {
  map_floats(x, count, y, [](auto d, auto v) HWY_ATTR { return sigmoid(d, v); });
}
void softplus_simd(const float* x, std::size_t count, float* y) {
  map_floats(x, count, y, [](auto d, auto v) HWY_ATTR { return softplus(d, v); });
}
void normal_distribution_simd(const float* x, std::size_t count, float* y) {
  map_floats(x, count, y, [](auto d, auto v) HWY_ATTR { return normal(d, v).distribution; });
}
void normal_density_simd(const float* x, std::size_t count, float* y) {
  map_floats(x, count, y, [](auto d, auto v) HWY_ATTR { return normal(d, v).density; });
}
void gelu_simd(const float* x, std::size_t count, float* y) {
  map_floats(x, count, y, [](auto d, auto v) HWY_ATTR { return hn::Mul(v, normal(d, v).distribution); });
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(decay_exp_simd);
HWY_EXPORT(sigmoid_simd);
HWY_EXPORT(softplus_simd);
HWY_EXPORT(normal_distribution_simd);
HWY_EXPORT(normal_density_simd);
HWY_EXPORT(gelu_simd);

namespace {

using Kernel = std::function<void(const float*, std::size_t, float*)>;

double distribution(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Relative errors count where the result is a normal number that the function promises digits of, else absolute ones.
enum class Measure { relative, absolute };

struct Function {
  std::string name;
  Kernel kernel;
  double (*exact)(double);
  Measure measure;
  float from, to;  // the range
  double limit;    // the row of the header's table, rounded up
};

const std::vector<Function>& functions() {
  constexpr float kMost = std::numeric_limits<float>::max();
  static const std::vector<Function> list = {
      {"decay_exp",
       [](auto... a) {
         HWY_DYNAMIC_DISPATCH(decay_exp_simd)
         (a...);
       },
       [](double x) { return std::exp(x); }, Measure::relative, -87.0F, 0.0F, 2e-7},
      {"decay_exp, absolute",
       [](auto... a) {
         HWY_DYNAMIC_DISPATCH(decay_exp_simd)
         (a...);
       },
       [](double x) { return std::exp(x); }, Measure::absolute, -kMost, 0.0F, 2e-7},
      {"sigmoid",
       [](auto... a) {
         HWY_DYNAMIC_DISPATCH(sigmoid_simd)
         (a...);
       },
       [](double x) { return 1.0 / (1.0 + std::exp(-x)); }, Measure::relative, -87.0F, kMost, 3e-7},
      {"sigmoid, absolute",
       [](auto... a) {
         HWY_DYNAMIC_DISPATCH(sigmoid_simd)
         (a...);
       },
       [](double x) { return 1.0 / (1.0 + std::exp(-x)); }, Measure::absolute, -kMost, kMost, 2e-7},
      {"softplus",
       [](auto... a) {
         HWY_DYNAMIC_DISPATCH(softplus_simd)
         (a...);
       },
       [](double x) { return x > 50 ? x : std::log1p(std::exp(x)); }, Measure::relative, -87.0F, kMost, 5e-7},
      {"normal distribution, absolute",
       [](auto... a) {
         HWY_DYNAMIC_DISPATCH(normal_distribution_simd)
         (a...);
       },
       distribution, Measure::absolute, -kMost, kMost, 3e-7},
      {"normal density, absolute",
       [](auto... a) {
         HWY_DYNAMIC_DISPATCH(normal_density_simd)
         (a...);
       },
       [](double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * 3.14159265358979323846); }, Measure::absolute,
       -kMost, kMost, 2e-7},
      {"gelu, absolute",
       [](auto... a) {
         HWY_DYNAMIC_DISPATCH(gelu_simd)
         (a...);
       },
       [](double x) { return x * distribution(x); }, Measure::absolute, -10.0F, 10.0F, 1e-6},
  };
  return list;
}

// Every `step`-th float, by its bits, between the ends of the function's range.
template <class Visit>
void for_floats(const Function& function, std::uint32_t step, const Visit& visit) {
  std::vector<float> block;
  const auto flush = [&] {
    if (!block.empty()) visit(block);
    block.clear();
  };
  for (std::uint64_t bits = 0; bits <= 0xFFFFFFFFU; bits += step) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!(x >= function.from && x <= function.to)) continue;
    block.push_back(x);
    if (block.size() == 1021) flush();  // not a whole number of vectors
  }
  flush();
}

struct Worst {
  double error = 0;
  float at = 0;
};

Worst worst_of(const Function& function, const Kernel& kernel, std::uint32_t step) {
  Worst worst;
  for_floats(function, step, [&](const std::vector<float>& x) {
    std::vector<float> y(x.size(), mneme::testing::kPoison);
    kernel(x.data(), x.size(), y.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = function.exact(x[i]), difference = std::abs(static_cast<double>(y[i]) - exact);
      const double error = function.measure == Measure::relative ? difference / exact : difference;
      if (!(error <= worst.error)) worst = {std::isnan(error) ? INFINITY : error, x[i]};
    }
  });
  return worst;
}

// A prime, so that every mantissa length is met. MNEME_FLOAT_STEP=97 measures the table of the header.
std::uint32_t step() {
  const char* chosen = std::getenv("MNEME_FLOAT_STEP");
  return chosen ? static_cast<std::uint32_t>(std::atoi(chosen)) : 65537;
}

KERNEL_TEST(KernelsVectorMath, ErrorsOverTheWholeRangeAreThoseOfTheTable) {
  for (const Function& function : functions()) {
    const Worst worst = worst_of(function, function.kernel, step());
    EXPECT_LE(worst.error, function.limit) << function.name << " at " << worst.at;
    if (std::getenv("MNEME_FLOAT_STEP"))
      fmt::print("{:8} {:30} {:.3g} at {:.9g}\n", hwy::TargetName(hwy::SupportedAndGeneratedTargets().front()),
                 function.name, worst.error, worst.at);
  }
}

KERNEL_TEST(KernelsVectorMath, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity(), nan = mneme::testing::kPoison;
  const auto at = [](const Kernel& kernel, float x) {
    std::array<float, 17> in, out;
    in.fill(x);
    kernel(in.data(), in.size(), out.data());
    for (const float y : out) EXPECT_TRUE(y == out[0] || (std::isnan(y) && std::isnan(out[0])));
    return out[0];
  };
  const Kernel exp = functions()[0].kernel, sigmoid = functions()[2].kernel, softplus = functions()[4].kernel,
               phi = functions()[5].kernel, density = functions()[6].kernel;
  EXPECT_EQ(at(exp, 0.0F), 1.0F);
  EXPECT_EQ(at(exp, -87.5F), 0.0F);
  EXPECT_EQ(at(exp, -inf), 0.0F);
  EXPECT_EQ(at(sigmoid, -inf), 0.0F);
  EXPECT_EQ(at(sigmoid, 0.0F), 0.5F);
  EXPECT_EQ(at(sigmoid, inf), 1.0F);
  EXPECT_EQ(at(softplus, inf), inf);
  EXPECT_EQ(at(softplus, -inf), 0.0F);
  EXPECT_EQ(at(phi, -inf), 0.0F);
  EXPECT_EQ(at(phi, inf), 1.0F);
  EXPECT_EQ(at(density, inf), 0.0F);
  for (const Kernel& kernel : {exp, sigmoid, softplus, phi}) EXPECT_TRUE(std::isnan(at(kernel, nan)));
}

KERNEL_TEST(KernelsVectorMath, PlantedFaultsAreRejected) {
  for (const Function& function : functions()) {
    const Kernel scaled = [&](const float* x, std::size_t count, float* y) {
      function.kernel(x, count, y);
      for (std::size_t i = 0; i < count; ++i) y[i] *= 1.0F + 2e-6F;
    };
    const Kernel skipped_tail = [&](const float* x, std::size_t count, float* y) { function.kernel(x, count - 1, y); };
    EXPECT_GT(worst_of(function, scaled, 1000003).error, function.limit) << function.name;
    EXPECT_GT(worst_of(function, skipped_tail, 1000003).error, function.limit) << function.name;
  }
}

}  // namespace
}  // namespace mneme::kernels
#endif
