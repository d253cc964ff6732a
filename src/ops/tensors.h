// Tensors as the kernels see them.
#pragma once

#include "kernels/simd/aligned_floats.h"
#include "ops/torch.h"

namespace mneme::ops {

// x [B, L, ...]: as it is if its tokens are contiguous and evenly spaced (a slice of the channels, say), else a copy.
inline torch::Tensor with_even_rows(const torch::Tensor& x) {
  const bool inner = x.select(0, 0).select(0, 0).is_contiguous();
  const bool even = x.size(0) == 1 || x.stride(0) == x.size(1) * x.stride(1);
  return inner && even && x.stride(1) >= 0 ? x : x.contiguous();
}

// x must have come from with_even_rows, and stay alive.
inline kernels::Rows rows_of(const torch::Tensor& x) {
  if (!x.defined()) return {};
  return {x.data_ptr<float>(), static_cast<std::size_t>(x.stride(1))};
}

// The data of a contiguous tensor; null if there is none.
inline float* floats(const torch::Tensor& tensor) { return tensor.defined() ? tensor.data_ptr<float>() : nullptr; }

inline std::size_t extent(const torch::Tensor& x, std::int64_t dimension) {
  return static_cast<std::size_t>(x.size(dimension));
}

}  // namespace mneme::ops
