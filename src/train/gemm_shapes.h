// Which matrix multiplications libtorch carries out.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

namespace mneme {

// C[m,n] = A[m,k] B[k,n], each of A and B perhaps the transpose of what is in memory.
struct GemmShape {
  std::int64_t m = 0, k = 0, n = 0;
  bool transposed_a = false, transposed_b = false;
  auto operator<=>(const GemmShape&) const = default;
};

struct GemmUse {
  GemmShape shape;
  double flops = 0;  // of all multiplications of this shape
};

// The multiplications of `work` on this thread, most work first. Those that a kernel does without libtorch are not seen.
std::vector<GemmUse> gemms_of(const std::function<void()>& work);

}  // namespace mneme
