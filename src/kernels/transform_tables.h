// Roots of unity and places of frequencies for the transforms of real_transform-inl.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mneme::kernels {

struct Twiddle {
  float re, im;
};

// For real sequences of N = 2M steps, M a power of two.
class TransformTables {
 public:
  explicit TransformTables(std::size_t complex_size);

  std::size_t size() const { return size_; }  // M
  // Where frequency k of the complex transform lies.
  std::size_t place(std::size_t k) const { return place_[k]; }
  // exp(-i pi k / M), k = 0..M.
  Twiddle turn(std::size_t k) const { return turn_[k]; }
  // w^j, w^2j, w^3j for j = 0..n/4-1, with w = exp(-2 pi i / n).
  const Twiddle* butterflies(std::size_t n) const;

 private:
  std::size_t size_;
  std::vector<std::uint32_t> place_;
  std::vector<Twiddle> turn_;
  std::vector<std::vector<Twiddle>> butterflies_;  // of M, M/4, M/16, ...
};

// Tables are made once per size and kept by the thread.
const TransformTables& transform_tables(std::size_t complex_size);

}  // namespace mneme::kernels
