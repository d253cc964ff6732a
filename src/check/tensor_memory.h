// How much memory tensors take.
#pragma once

#include <cstdint>
#include <functional>

namespace mneme::check {

// Runs `work` on this thread and returns the most bytes that its tensors held at one time, beyond those that
// were there before. What kernels allocate for themselves is not counted.
std::int64_t peak_tensor_memory(const std::function<void()>& work);

}  // namespace mneme::check
