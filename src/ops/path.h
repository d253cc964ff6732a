// Which of its two paths a mixer takes: composed tensor operations, or kernels.
//
// The composed path works on every libtorch device and type and is the reference; the kernel path is for
// float32 on the CPU. Both compute the same function, and a test compares them.
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// True for a float32 CPU tensor unless a ScopedComposed is alive on this thread.
bool use_kernels(const torch::Tensor& x);

class ScopedComposed {
 public:
  ScopedComposed();
  ~ScopedComposed();
  ScopedComposed(const ScopedComposed&) = delete;
  ScopedComposed& operator=(const ScopedComposed&) = delete;
};

}  // namespace mneme::ops
