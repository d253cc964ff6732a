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
struct WkvInput {
  std::size_t B, L, C;
  const float *k, *v, *w, *u;

  std::size_t chunks() const { return (L + kWkvChunk - 1) / kWkvChunk; }
  std::size_t states_size() const { return B * chunks() * 3 * C; }
};

// Written by wkv for the backward pass.
struct WkvSaved {
  float* states = nullptr;  // states_size() floats; nullptr if there will be no backward pass
};

struct WkvGradients {
  float *dk, *dv, *dw, *du;  // overwritten
};

// out is y above, dout its gradient.
void wkv(const WkvInput& in, float* out, const WkvSaved& saved);
void wkv_backward(const WkvInput& in, const WkvSaved& saved, const float* dout, const WkvGradients& gradients);

void wkv_reference(const WkvInput& in, float* out, const WkvSaved& saved);
void wkv_backward_reference(const WkvInput& in, const WkvSaved& saved, const float* dout,
                            const WkvGradients& gradients);

}  // namespace mneme::kernels
