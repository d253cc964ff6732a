// rwkv5: the recurrence of RWKV-5, a matrix state per head with a constant decay of each key channel.
//
// For each sequence and head, S [N, N] (key channel x value channel) starts at zero; per token
//   y = S^T r + (sum_i r_i u_i k_i) v;   S <- diag(d) S + k v^T
// r, k, v, y are [B, L, H, N], d and u are [H, N]: float32, contiguous, no aliasing. Tokens are processed in
// order, so the output of a token depends on the bits of earlier tokens only; dd and du are summed with the
// batch outermost, then time.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct Rwkv5Shape {
  std::size_t B, L, H, N;

  // A state is kept every kChunk tokens; the backward pass recomputes those between.
  static constexpr std::size_t kChunk = 32;
  std::size_t chunks() const { return (L + kChunk - 1) / kChunk; }
  std::size_t states_size() const { return B * H * chunks() * N * N; }
};

struct Rwkv5Input {
  Rwkv5Shape shape;
  const float *r, *k, *v, *d, *u;
};

// Written by rwkv5 for the backward pass.
struct Rwkv5Saved {
  float* states = nullptr;  // shape.states_size() floats; nullptr if there will be no backward pass
};

struct Rwkv5Gradients {
  float *dr, *dk, *dv, *dd, *du;  // overwritten
};

// out is y above, dout its gradient.
void rwkv5(const Rwkv5Input& in, float* out, const Rwkv5Saved& saved);
void rwkv5_backward(const Rwkv5Input& in, const Rwkv5Saved& saved, const float* dout, const Rwkv5Gradients& gradients);

void rwkv5_reference(const Rwkv5Input& in, float* out, const Rwkv5Saved& saved);
void rwkv5_backward_reference(const Rwkv5Input& in, const Rwkv5Saved& saved, const float* dout,
                              const Rwkv5Gradients& gradients);

}  // namespace mneme::kernels
