// Roots of unity for the transforms of complex_transform-inl.h.
#pragma once

#include <cstddef>
#include <vector>

namespace mneme::kernels {

struct Twiddle {
  float re, im;
};

// For transforms of N steps, N a power of two.
class TransformTables {
 public:
  explicit TransformTables(std::size_t size);

  std::size_t size() const { return size_; }  // N
  // w^j, w^2j, w^3j for j = 0..n/4-1, with w = exp(-2 pi i / n); n is N, N/4, N/16, ..., at least 4.
  const Twiddle* butterflies(std::size_t n) const;

 private:
  std::size_t size_;
  std::vector<std::vector<Twiddle>> butterflies_;  // of N, N/4, N/16, ...
};

// Tables are made once per size and kept by the thread.
const TransformTables& transform_tables(std::size_t size);

}  // namespace mneme::kernels
