// Working memory of a kernel: zeroed, aligned for every vector width.
#pragma once

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cstddef>

namespace mneme::kernels {

class AlignedFloats {
 public:
  explicit AlignedFloats(std::size_t count) : memory_(hwy::AllocateAligned<float>(std::max<std::size_t>(count, 1))) {
    std::fill_n(memory_.get(), count, 0.0F);
  }
  float* data() { return memory_.get(); }
  const float* data() const { return memory_.get(); }
  float* operator+(std::size_t offset) { return memory_.get() + offset; }
  const float* operator+(std::size_t offset) const { return memory_.get() + offset; }

 private:
  hwy::AlignedFreeUniquePtr<float[]> memory_;
};

// Kernels use vectors of at most kMaxLanes floats, so rows padded to a multiple need no tail loop.
inline constexpr std::size_t kMaxLanes = 16;
inline constexpr std::size_t padded(std::size_t count) { return (count + kMaxLanes - 1) / kMaxLanes * kMaxLanes; }

// Rows of a tensor whose tokens stand `stride` floats apart.
struct Rows {
  const float* data = nullptr;
  std::size_t stride = 0;
  const float* operator[](std::size_t row) const { return data + row * stride; }
};

}  // namespace mneme::kernels
