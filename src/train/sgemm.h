// How fast this machine multiplies matrices: the limit that training speed is compared with.
#pragma once

#include <cstdint>

namespace mneme {

// Floating-point operations per second of C[m,n] = A[m,k] B[k,n] in float32 through libtorch, on this thread and
// by its own clock; the best of several repetitions within about `seconds`.
double sgemm_rate(std::int64_t m, std::int64_t k, std::int64_t n, double seconds = 0.3);

}  // namespace mneme
