// Fourier transforms against their definition.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <vector>

#include "kernels/conv/transform_tables.h"
#include "kernels/kernel_arrays.h"
#include "kernels/simd/aligned_floats.h"
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/complex_transform_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/conv/complex_transform-inl.h"

#ifndef MNEME_TESTS_TRANSFORM_KIND
#define MNEME_TESTS_TRANSFORM_KIND
namespace mneme::kernels {
namespace {

enum class Transform { forward, back, padded, back_padded };

}  // namespace
}  // namespace mneme::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

std::size_t transform_lanes_simd() { return hn::Lanes(TransformFloats()); }

// x [n, 2, lanes], aligned, in place.
void transform_simd(Transform kind, float* x, std::size_t n) {
  const TransformTables& tables = transform_tables(n);
  const ComplexColumn column{x, hn::Lanes(TransformFloats())};
  if (kind == Transform::forward) transform(column, n, tables);
  if (kind == Transform::back) transform_back(column, n, tables);
  if (kind == Transform::padded) transform_padded(column, n, tables);
  if (kind == Transform::back_padded) transform_back_padded(column, n, tables);
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(transform_lanes_simd);
HWY_EXPORT(transform_simd);

namespace {

using Complex = std::complex<double>;
using Kernel = std::function<void(Transform, float*, std::size_t)>;
using mneme::testing::kPoison;
using mneme::testing::relative_error;

// Worst seen on any target: 1.8e-7.
constexpr double kTolerance = 1e-6;

void run_transform(Transform kind, float* x, std::size_t n) { HWY_DYNAMIC_DISPATCH(transform_simd)(kind, x, n); }

// The frequency at each place: 4 k + r is in quarter r, and inside of a quarter the same holds for k.
std::vector<std::size_t> frequencies(std::size_t n) {
  std::vector<std::size_t> order(n);
  if (n <= 4) {
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    return order;
  }
  const std::vector<std::size_t> quarter = frequencies(n / 4);
  for (std::size_t i = 0; i < n; ++i) order[i] = 4 * quarter[i % (n / 4)] + i / (n / 4);
  return order;
}

std::vector<Complex> transform_reference(const std::vector<Complex>& x) {
  const std::size_t n = x.size();
  std::vector<Complex> result;
  for (const std::size_t f : frequencies(n)) {
    Complex sum = 0;
    for (std::size_t t = 0; t < n; ++t)
      sum += x[t] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(f * t % n) / static_cast<double>(n));
    result.push_back(sum);
  }
  return result;
}

std::vector<std::vector<Complex>> sequences(std::size_t lanes, std::size_t n, std::size_t steps) {
  std::vector<std::vector<Complex>> result;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    Random random(stream_key(lane, "test"), n);
    std::vector<Complex> x(n);
    for (std::size_t t = 0; t < steps; ++t) x[t] = {random.normal(), random.normal()};
    result.push_back(x);
  }
  return result;
}

// Steps from `steps` on are poison, as memory that a padded transform must not read.
void fill(float* memory, std::size_t lanes, const std::vector<std::vector<Complex>>& x, std::size_t steps) {
  for (std::size_t t = 0; t < x[0].size(); ++t)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      memory[2 * t * lanes + lane] = t < steps ? static_cast<float>(x[lane][t].real()) : kPoison;
      memory[(2 * t + 1) * lanes + lane] = t < steps ? static_cast<float>(x[lane][t].imag()) : kPoison;
    }
}

// The error of a transform of n steps; that of a back transform is of the first `wanted` steps.
double error(const Kernel& kernel, Transform kind, std::size_t n) {
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(transform_lanes_simd)();
  const bool back = kind == Transform::back || kind == Transform::back_padded;
  const std::size_t half = kind == Transform::padded || kind == Transform::back_padded ? n / 2 : n;
  const auto x = sequences(lanes, n, back ? n : half);
  std::vector<std::vector<Complex>> spectra;
  for (const auto& sequence : x) spectra.push_back(transform_reference(sequence));
  const AlignedFloats memory(2 * n * lanes);
  fill(memory, lanes, back ? spectra : x, back ? n : half);
  kernel(kind, memory, n);
  std::vector<float> ours, reference;
  for (std::size_t t = 0; t < (back ? half : n); ++t)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const Complex exact = back ? static_cast<double>(n) * x[lane][t] : spectra[lane][t];
      ours.push_back(memory[2 * t * lanes + lane]);
      ours.push_back(memory[(2 * t + 1) * lanes + lane]);
      reference.push_back(static_cast<float>(exact.real()));
      reference.push_back(static_cast<float>(exact.imag()));
    }
  return relative_error(ours, reference);
}

KERNEL_TEST(KernelsComplexTransform, IsTheDefinition) {
  for (const std::size_t n : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512})
    for (const Transform kind : {Transform::forward, Transform::back})
      EXPECT_LE(error(run_transform, kind, n), kTolerance) << n;
}

KERNEL_TEST(KernelsComplexTransform, OfAHalfThatIsNotThere) {
  for (const std::size_t n : {4, 8, 16, 32, 64, 512})
    for (const Transform kind : {Transform::padded, Transform::back_padded})
      EXPECT_LE(error(run_transform, kind, n), kTolerance) << n;
}

KERNEL_TEST(KernelsComplexTransform, PlantedFaultsAreRejected) {
  const Kernel nothing = [](Transform, float*, std::size_t) {};
  const Kernel wrong_way = [](Transform kind, float* x, std::size_t n) {
    run_transform(kind == Transform::forward ? Transform::back : Transform::forward, x, n);
  };
  const Kernel lost_step = [](Transform kind, float* x, std::size_t n) {
    x[0] = 0.0F;
    run_transform(kind, x, n);
  };
  const Kernel reads_padding = [](Transform, float* x, std::size_t n) { run_transform(Transform::forward, x, n); };
  for (const Kernel& wrong : {nothing, wrong_way, lost_step})
    for (const Transform kind : {Transform::forward, Transform::back}) EXPECT_GT(error(wrong, kind, 32), kTolerance);
  EXPECT_GT(error(reads_padding, Transform::padded, 32), kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
#endif
