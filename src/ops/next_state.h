// Where a step writes the next state.
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// The state itself where nobody else holds it, so that a long sequence keeps to the same memory, else new memory of its
// shape: what was copied from a state stays as it is.
inline torch::Tensor room_for_next(const torch::Tensor& state) {
  const bool alone = state.use_count() == 1 && state.storage().use_count() == 1 && state.is_contiguous();
  return alone ? state : torch::empty(state.sizes(), state.options());
}

}  // namespace mneme::ops
