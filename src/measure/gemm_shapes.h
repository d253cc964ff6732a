// Which matrix multiplications training consists of.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

namespace mneme::measure {

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

// The multiplications of training steps on this thread, most work first: libtorch's, and those of our linear layers,
// MLP and loss head. Those inside of other kernels are not seen.
std::vector<GemmUse> gemms_of(const std::function<void()>& work);

}  // namespace mneme::measure
