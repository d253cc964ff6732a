#include "check/tensor_memory.h"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <memory>

namespace mneme::check {
namespace {

// The type of the totals differs between versions of libtorch.
template <class Total>
Total total_type(void (c10::MemoryReportingInfoBase::*)(void*, std::int64_t, Total, Total, c10::Device));
using Total = decltype(total_type(&c10::MemoryReportingInfoBase::reportMemoryUsage));

// libtorch's allocator tells the profiler of every allocation (positive) and release (negative).
class MemoryCounter : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, std::int64_t size, Total, Total, c10::Device) override {
    held_ += size;
    total_ += std::max<std::int64_t>(size, 0);
    peak_ = std::max(peak_, held_);
  }
  bool memoryProfilingEnabled() const override { return true; }
  std::int64_t peak() const { return peak_; }
  std::int64_t total() const { return total_; }

 private:
  std::int64_t held_ = 0, peak_ = 0, total_ = 0;
};

std::shared_ptr<MemoryCounter> counted(const std::function<void()>& work) {
  const auto counter = std::make_shared<MemoryCounter>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, counter);
  work();
  return counter;
}

}  // namespace

std::int64_t peak_tensor_memory(const std::function<void()>& work) { return counted(work)->peak(); }

std::int64_t total_tensor_memory(const std::function<void()>& work) { return counted(work)->total(); }

}  // namespace mneme::check
