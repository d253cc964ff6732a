// Sampling without replacement, exact and repeatable to the bit on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/random.h"

namespace mneme::tasks {

// Fills `out` with independent uniform integers from [first, first + count). count must be positive.
void fill_uniform(Random& random, std::int32_t first, std::uint32_t count, std::span<std::int32_t> out);

// A uniform integer from [first, last].
std::int64_t uniform_between(Random& random, std::int64_t first, std::int64_t last);

// Fills `out` with distinct integers from [first, last], each ordered selection equally likely.
// There must be at least as many integers as places.
void sample_distinct(Random& random, std::int32_t first, std::int32_t last, std::span<std::int32_t> out);

// Writes the data, in their order, on places chosen uniformly at random; other places stay as they are.
void scatter_in_order(Random& random, std::span<const std::int32_t> data, std::span<std::int32_t> places);

// Draws places 0..n-1 one after another without replacement, each with probability proportional to its
// weight among those left. Weights are rounded to integers once, so that the draws do not depend on the
// last bit of a machine's pow().
class WeightedPlaces {
 public:
  explicit WeightedPlaces(std::span<const double> weights);

  // The drawn places, in the order of drawing. out.size() <= n.
  void draw(Random& random, std::span<std::int32_t> out) const;

 private:
  std::vector<std::uint64_t> tree_;  // Fenwick tree of the integer weights; tree_[0] is unused
  std::vector<std::uint64_t> weights_;
  std::uint64_t total_ = 0;
  std::size_t top_ = 1;  // largest power of two <= n
};

}  // namespace mneme::tasks
