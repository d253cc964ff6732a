#include "kernels/simd/aligned_floats.h"

#include <hwy/aligned_allocator.h>

#include <limits>
#include <optional>

#include "core/shortage.h"

namespace mneme::kernels {
namespace {

thread_local std::optional<std::size_t> successes_left;

// Highway adds room for the alignment, so that nearly all of the address space would wrap around.
constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / 4;

bool is_to_fail() { return successes_left && (*successes_left)-- == 0; }

}  // namespace

void* allocate_aligned(std::size_t count, std::size_t size) {
  if (count > kMost / size || is_to_fail()) throw out_of_memory(count, size);
  void* memory = hwy::AllocateAlignedBytes(count * size, nullptr, nullptr);
  if (!memory) throw out_of_memory(count, size);
  return memory;
}

void free_aligned(void* memory) { hwy::FreeAlignedBytes(memory, nullptr, nullptr); }

FailingAllocations::FailingAllocations(std::size_t successes) { successes_left = successes; }
FailingAllocations::~FailingAllocations() { successes_left.reset(); }

}  // namespace mneme::kernels
