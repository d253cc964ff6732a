// A device for tests: its tensors compute as on the CPU, but nobody can read their memory.
//
// No GPU is needed to show that code works off the CPU. An operation on a ghost tensor copies what it reads to the
// host, computes there and copies the result back, as libtorch's fallback does for every device without an operation.
// The addresses that data_ptr() gives have a bit that no address of this machine has: whoever follows one, a kernel for
// example, is ended by the system. Fresh memory is full of NaN.
#pragma once

#include "ops/torch.h"

namespace mneme::testing {

torch::Device ghost_device();

}  // namespace mneme::testing
