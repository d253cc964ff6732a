#include "tasks/sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace mneme::tasks {
namespace {

// Marks that are cleared by raising a stamp instead of touching memory.
class Marks {
 public:
  void begin(std::size_t size) {
    if (stamps_.size() < size) stamps_.resize(size, 0);
    if (++stamp_ == 0) {
      std::fill(stamps_.begin(), stamps_.end(), 0U);
      stamp_ = 1;
    }
  }
  // True if it was not marked yet.
  bool mark(std::size_t at) { return std::exchange(stamps_[at], stamp_) != stamp_; }

 private:
  std::vector<std::uint32_t> stamps_;
  std::uint32_t stamp_ = 0;
};

}  // namespace

void fill_uniform(Random& random, std::int32_t first, std::uint32_t count, std::span<std::int32_t> out) {
  for (auto& place : out) place = first + static_cast<std::int32_t>(random.below(count));
}

std::int64_t uniform_between(Random& random, std::int64_t first, std::int64_t last) {
  return first + static_cast<std::int64_t>(random.below64(static_cast<std::uint64_t>(last - first) + 1));
}

void sample_distinct(Random& random, std::int32_t first, std::int32_t last, std::span<std::int32_t> out) {
  const auto range = static_cast<std::uint32_t>(last - first + 1);
  require(last >= first && range >= out.size(), "more distinct integers than there are");
  if (out.size() > range / 2) {
    // Rejection would stall: shuffle the front of the whole range instead.
    thread_local std::vector<std::int32_t> all;
    all.resize(range);
    for (std::uint32_t i = 0; i < range; ++i) all[i] = first + static_cast<std::int32_t>(i);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto pick = i + random.below(range - static_cast<std::uint32_t>(i));
      std::swap(all[i], all[pick]);
      out[i] = all[i];
    }
    return;
  }
  thread_local Marks marks;
  marks.begin(range);
  for (auto& place : out) {
    std::uint32_t pick = random.below(range);
    while (!marks.mark(pick)) pick = random.below(range);
    place = first + static_cast<std::int32_t>(pick);
  }
}

void scatter_in_order(Random& random, std::span<const std::int32_t> data, std::span<std::int32_t> places) {
  thread_local std::vector<std::int32_t> chosen;
  chosen.resize(data.size());
  sample_distinct(random, 0, static_cast<std::int32_t>(places.size()) - 1, chosen);
  std::sort(chosen.begin(), chosen.end());
  for (std::size_t i = 0; i < data.size(); ++i) places[static_cast<std::size_t>(chosen[i])] = data[i];
}

WeightedPlaces::WeightedPlaces(std::span<const double> weights) : tree_(weights.size() + 1, 0) {
  require(!weights.empty(), "places to draw from");
  const double largest = *std::max_element(weights.begin(), weights.end());
  for (const double weight : weights) {
    // 2^32 steps below the largest weight; a place is never lost to rounding.
    const auto integer = static_cast<std::uint64_t>(std::llround(weight / largest * 0x1p32));
    weights_.push_back(std::max<std::uint64_t>(integer, 1));
    total_ += weights_.back();
  }
  for (std::size_t i = 1; i < tree_.size(); ++i) {
    tree_[i] += weights_[i - 1];
    if (const std::size_t parent = i + (i & -i); parent < tree_.size()) tree_[parent] += tree_[i];
  }
  top_ = std::bit_floor(weights.size());
}

void WeightedPlaces::draw(Random& random, std::span<std::int32_t> out) const {
  require(out.size() <= weights_.size(), "more draws than places");
  thread_local std::vector<std::uint64_t> tree;
  tree.assign(tree_.begin(), tree_.end());
  const std::size_t size = tree.size();
  std::uint64_t total = total_;
  for (auto& place : out) {
    // Descend to the place whose interval of the cumulated weights holds the target.
    std::uint64_t target = random.below64(total);
    std::size_t at = 0;
    for (std::size_t stride = top_; stride > 0; stride /= 2) {
      if (at + stride < size && tree[at + stride] <= target) {
        at += stride;
        target -= tree[at];
      }
    }
    place = static_cast<std::int32_t>(at);
    const std::uint64_t weight = weights_[at];
    total -= weight;
    for (std::size_t i = at + 1; i < size; i += i & -i) tree[i] -= weight;
  }
}

}  // namespace mneme::tasks
