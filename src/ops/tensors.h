// Tensors as the kernels see them.
#pragma once

#include <utility>

#include "core/error.h"
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

inline double* doubles(const torch::Tensor& tensor) { return tensor.data_ptr<double>(); }

// Saved tensors by name: a struct of as many tensors as the list has, in its order.
//   struct Saved { torch::Tensor x, weight; };   const auto saved = named<Saved>(context->get_saved_variables());
template <class Names, std::size_t... I>
Names named(const torch::autograd::variable_list& tensors, std::index_sequence<I...>) {
  return {tensors[I]...};
}
template <class Names>
Names named(const torch::autograd::variable_list& tensors) {
  constexpr std::size_t kCount = sizeof(Names) / sizeof(torch::Tensor);
  require(tensors.size() == kCount, "a saved tensor for each name");
  return named<Names>(tensors, std::make_index_sequence<kCount>());
}

// libtorch takes an absent tensor only as an empty optional.
inline c10::optional<torch::Tensor> optional(const torch::Tensor& tensor) {
  return tensor.defined() ? c10::optional<torch::Tensor>(tensor) : c10::nullopt;
}
inline torch::Tensor value_of(const c10::optional<torch::Tensor>& tensor) { return tensor ? *tensor : torch::Tensor(); }

// Where the gradient of a tensor is written: none for one that is missing.
inline torch::Tensor room_for(const torch::Tensor& tensor, const torch::TensorOptions& options) {
  return tensor.defined() ? torch::empty(tensor.sizes(), options) : torch::Tensor();
}

inline std::size_t extent(const torch::Tensor& x, std::int64_t dimension) {
  return static_cast<std::size_t>(x.size(dimension));
}

}  // namespace mneme::ops
