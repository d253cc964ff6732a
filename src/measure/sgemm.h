// How fast this machine multiplies matrices: the limit that training speed is compared with.
#pragma once

#include <span>

#include "measure/gemm_shapes.h"

namespace mneme::measure {

// Floating-point operations per second of C[m,n] = A[m,k] B[k,n] in float32 through libtorch, on this thread and
// by its own clock; the best of several repetitions within about `seconds`.
double sgemm_rate(const GemmShape& shape, double seconds = 0.3);

// The same for these multiplications together (at least one): the twelve that are most of the work, each weighted by
// its work.
double sgemm_rate(std::span<const GemmUse> uses, double seconds_each = 0.15);

}  // namespace mneme::measure
