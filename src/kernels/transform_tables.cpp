#include "kernels/transform_tables.h"

#include <cmath>
#include <map>
#include <memory>
#include <numbers>

namespace mneme::kernels {
namespace {

Twiddle root(std::size_t power, std::size_t order) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(power % order) / static_cast<double>(order);
  return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
}

// Quarters hold the frequencies that leave remainder 0, 1, 2, 3, each transformed likewise.
std::size_t place_of(std::size_t k, std::size_t n) {
  if (n <= 2) return k;
  return k % 4 * (n / 4) + place_of(k / 4, n / 4);
}

}  // namespace

TransformTables::TransformTables(std::size_t complex_size) : size_(complex_size) {
  for (std::size_t k = 0; k < size_; ++k) place_.push_back(static_cast<std::uint32_t>(place_of(k, size_)));
  for (std::size_t k = 0; k <= size_; ++k) turn_.push_back(root(k, 2 * size_));
  for (std::size_t n = size_; n >= 4; n /= 4) {
    std::vector<Twiddle> roots;
    for (std::size_t j = 0; j < n / 4; ++j)
      for (const std::size_t times : {1, 2, 3}) roots.push_back(root(times * j, n));
    butterflies_.push_back(std::move(roots));
  }
}

const Twiddle* TransformTables::butterflies(std::size_t n) const {
  std::size_t level = 0;
  for (std::size_t size = size_; size > n; size /= 4) ++level;
  return butterflies_[level].data();
}

const TransformTables& transform_tables(std::size_t complex_size) {
  thread_local std::map<std::size_t, std::unique_ptr<TransformTables>> known;
  std::unique_ptr<TransformTables>& tables = known[complex_size];
  if (!tables) tables = std::make_unique<TransformTables>(complex_size);
  return *tables;
}

}  // namespace mneme::kernels
