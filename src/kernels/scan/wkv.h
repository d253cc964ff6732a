// wkv: the time mix of RWKV-4, an exponentially weighted average of past values for each channel.
//
//   y[b,t,c] = (sum_{i<t} exp((t-1-i) w[c] + k[b,i,c]) v[b,i,c] + exp(u[c] + k[b,t,c]) v[b,t,c])
//              / (the same sum without v)
// k, v, y are [B, L, C], w (negative) and u are [C]: float32, contiguous, C innermost, no aliasing.
// Computed in t order with the exponents kept apart, so no exponential overflows. Each channel is summed
// in a fixed order (batch outermost, then time); the bits do not depend on its neighbours.
#pragma once

#include <cstddef>

namespace mneme::kernels {

// States are kept every kWkvChunk tokens for the backward pass, which recomputes those between.
inline constexpr std::size_t kWkvChunk = 32;

// Floats in `states`: [B, ceil(L / kWkvChunk), 3, C].
std::size_t wkv_states_size(std::size_t B, std::size_t L, std::size_t C);

struct WkvForward {
  std::size_t B, L, C;
  const float *k, *v, *w, *u;
  float* y;
  float* states;  // filled for the backward pass; nullptr if there will be none
};

struct WkvBackward {
  std::size_t B, L, C;
  const float *k, *v, *w, *u, *states, *dy;
  float *dk, *dv, *dw, *du;  // overwritten
};

void wkv_forward(const WkvForward& arguments);
void wkv_backward(const WkvBackward& arguments);

// Direct sums in double, O(L^2); `states` is neither written nor read.
void wkv_forward_reference(const WkvForward& arguments);
void wkv_backward_reference(const WkvBackward& arguments);

}  // namespace mneme::kernels
