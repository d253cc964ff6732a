// How much memory tensors take.
#pragma once

#include <cstdint>
#include <functional>

namespace mneme::check {

// Runs `work` on this thread and returns the most bytes that its tensors held at one time, beyond those that
// were there before. What kernels allocate for themselves is not counted.
std::int64_t peak_tensor_memory(const std::function<void()>& work);

// The bytes of all tensors that `work` made, whether they lived at the same time or not: what it wrote, at least. The
// same on every machine and at every load.
std::int64_t total_tensor_memory(const std::function<void()>& work);

}  // namespace mneme::check
