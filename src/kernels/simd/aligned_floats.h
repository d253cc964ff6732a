// Working memory of a kernel, aligned for every vector width. Memory that cannot be had is an Error (core/error.h), as
// everywhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "core/error.h"

namespace mneme::kernels {

// Kernels use vectors of at most kMaxLanes floats, so rows padded to a multiple need no tail loop.
inline constexpr std::size_t kMaxLanes = 16;
inline constexpr std::size_t padded(std::size_t count) { return (count + kMaxLanes - 1) / kMaxLanes * kMaxLanes; }

// Aligned bytes for `count` values of `size` bytes; throws out_of_memory().
void* allocate_aligned(std::size_t count, std::size_t size);
void free_aligned(void* memory);

// For tests: while it lives, this thread's allocations fail after `successes` more.
class FailingAllocations {
 public:
  explicit FailingAllocations(std::size_t successes);
  ~FailingAllocations();
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
};

// Asks for memory whose values do not matter yet.
struct Unset {};
inline constexpr Unset kUnset{};

// Owns its values and is used like the pointer to the first. Zero at first, unless kUnset is asked for.
template <class Value>
class AlignedArray {
 public:
  AlignedArray(std::size_t count, Unset)
      : count_(count), memory_(static_cast<Value*>(allocate_aligned(std::max<std::size_t>(count, 1), sizeof(Value)))) {}
  explicit AlignedArray(std::size_t count) : AlignedArray(count, kUnset) { std::fill_n(data(), count, Value(0)); }

  Value* data() const { return memory_.get(); }
  operator Value*() const { return data(); }

  // The next `count` values, from an aligned address: every piece takes up to kMaxLanes values more than it has.
  Value* take(std::size_t count) {
    require(taken_ + count <= count_, "a kernel's pieces do not fit into its working memory");
    Value* piece = data() + taken_;
    taken_ += padded(count);
    return piece;
  }

 private:
  struct Free {
    void operator()(Value* memory) const { free_aligned(memory); }
  };
  std::size_t count_, taken_ = 0;
  std::unique_ptr<Value, Free> memory_;
};

using AlignedFloats = AlignedArray<float>;
using AlignedDoubles = AlignedArray<double>;

// Rows of a tensor whose tokens are `stride` floats apart.
struct Rows {
  const float* data = nullptr;
  std::size_t stride = 0;
  const float* operator[](std::size_t row) const { return data + row * stride; }
};

}  // namespace mneme::kernels
