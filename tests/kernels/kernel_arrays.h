// Arrays for kernel tests: misaligned, with NaN before, after and wherever nothing was written yet.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "core/random.h"

namespace mneme::testing {

inline constexpr float kPoison = std::numeric_limits<float>::quiet_NaN();

// `size` floats at an address that is `shift` floats off alignment, surrounded by poison.
class GuardedArray {
 public:
  GuardedArray(std::size_t size, std::size_t shift, float value = kPoison)
      : size_(size), shift_(shift), memory_(size + shift + kMargin, kPoison) {
    for (std::size_t i = 0; i < size; ++i) data()[i] = value;
  }
  float* data() { return memory_.data() + shift_; }
  float& operator[](std::size_t i) { return data()[i]; }
  std::size_t size() const { return size_; }

  void fill_normal(std::uint64_t seed, double deviation = 1.0) {
    Random random(stream_key(seed, "test"), size_);
    for (std::size_t i = 0; i < size_; ++i) data()[i] = static_cast<float>(deviation * random.normal());
  }
  // True if nothing outside the array was written.
  bool margins_intact() const {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if ((i < shift_ || i >= shift_ + size_) && !std::isnan(memory_[i])) return false;
    return true;
  }
  std::vector<float> values() { return {data(), data() + size_}; }

 private:
  static constexpr std::size_t kMargin = 64;
  std::size_t size_, shift_;
  std::vector<float> memory_;
};

// Sizes around every vector width in use (4, 8, 16 lanes, and twice that).
inline const std::vector<std::size_t> kSizes = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 1000};

// The largest error of the running test, over all targets, becomes its property "worst": --gtest_output=xml shows it,
// and it is the number next to each tolerance.
inline double noted(double error) {
  static std::string test;
  static double worst = 0;
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  if (!info) return error;
  if (const std::string name = fmt::format("{}.{}", info->test_suite_name(), info->name()); name != test) {
    test = name;
    worst = 0;
  }
  if (error > worst) {
    worst = error;
    ::testing::Test::RecordProperty("worst", fmt::format("{:.2g}", worst));
  }
  return error;
}

// The largest |a - b| relative to the largest |reference|; infinite if a NaN is where none should be,
// or if the sizes differ.
inline double relative_error(const std::vector<float>& ours, const std::vector<float>& reference) {
  if (ours.size() != reference.size()) return noted(INFINITY);
  double worst = 0, scale = 1e-30;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (std::isnan(ours[i]) != std::isnan(reference[i])) return noted(INFINITY);
    if (std::isnan(reference[i])) continue;
    worst = std::max(worst, std::abs(static_cast<double>(ours[i]) - reference[i]));
    scale = std::max(scale, std::abs(static_cast<double>(reference[i])));
  }
  return noted(worst / scale);
}

}  // namespace mneme::testing
