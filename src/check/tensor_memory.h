// Counts the bytes of CPU tensors: how many live, and the most that lived at once.
#pragma once

#include <cstddef>

namespace mneme {

// Replaces libtorch's CPU allocator by one that counts, for its lifetime. One at a time.
class ScopedTensorMemory {
 public:
  ScopedTensorMemory();
  ~ScopedTensorMemory();
  ScopedTensorMemory(const ScopedTensorMemory&) = delete;
  ScopedTensorMemory& operator=(const ScopedTensorMemory&) = delete;

  // Most bytes at once since construction, of tensors made since then.
  std::size_t peak() const;
};

}  // namespace mneme
