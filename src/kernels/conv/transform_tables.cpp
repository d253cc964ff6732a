#include "kernels/conv/transform_tables.h"

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

}  // namespace

TransformTables::TransformTables(std::size_t size) : size_(size) {
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

const TransformTables& transform_tables(std::size_t size) {
  thread_local std::map<std::size_t, std::unique_ptr<TransformTables>> known;
  std::unique_ptr<TransformTables>& tables = known[size];
  if (!tables) tables = std::make_unique<TransformTables>(size);
  return *tables;
}

}  // namespace mneme::kernels
