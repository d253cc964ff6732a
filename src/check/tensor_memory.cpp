#include "check/tensor_memory.h"

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "mixers/torch.h"

namespace mneme {
namespace {

std::atomic<std::size_t> live{0}, most{0};
c10::Allocator* usual = nullptr;

// In front of each block stands its size; libtorch wants data aligned to 64 bytes and freed by its own address.
constexpr std::size_t kFront = 64;

void release(void* data) {
  if (data == nullptr) return;
  auto* const block = static_cast<std::byte*>(data) - kFront;
  std::size_t bytes = 0;
  std::memcpy(&bytes, block, sizeof(bytes));
  live -= bytes;
  std::free(block);
}

class CountingAllocator : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) const override {
    if (bytes == 0) return {nullptr, nullptr, release, c10::Device(c10::kCPU)};
    auto* const block = static_cast<std::byte*>(std::aligned_alloc(kFront, (bytes + 2 * kFront - 1) / kFront * kFront));
    if (block == nullptr) throw std::bad_alloc();
    std::memcpy(block, &bytes, sizeof(bytes));
    most = std::max<std::size_t>(most, live += bytes);
    void* const data = block + kFront;
    return {data, data, release, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return release; }
};

// Lives as long as the program: tensors may be freed after the count ends.
CountingAllocator& counting() {
  static CountingAllocator allocator;
  return allocator;
}

}  // namespace

ScopedTensorMemory::ScopedTensorMemory() {
  usual = c10::GetCPUAllocator();
  live = most = 0;
  c10::SetCPUAllocator(&counting(), 100);
}

ScopedTensorMemory::~ScopedTensorMemory() { c10::SetCPUAllocator(usual, 100); }

std::size_t ScopedTensorMemory::peak() const { return most; }

}  // namespace mneme
