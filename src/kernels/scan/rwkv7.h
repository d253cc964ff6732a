// rwkv7: the recurrence of RWKV-7, a matrix state per head with a decay of each key channel and a generalised
// delta rule.
//
// For each sequence and head, S [N, N] (key channel x value channel) starts at zero; per token
//   p = S^T a;   S <- diag(exp(w)) S - b p^T + k v^T;   o = S^T r
// All inputs and outputs are [B, L, H, N]: float32, contiguous, no aliasing. p is taken from the state before
// its decay. Tokens are processed in order, so the output of a token depends on the bits of earlier tokens only.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct Rwkv7Shape {
  std::size_t B, L, H, N;

  // A state is kept every kChunk tokens; the backward pass recomputes those between.
  static constexpr std::size_t kChunk = 32;
  std::size_t chunks() const { return (L + kChunk - 1) / kChunk; }
  std::size_t states_size() const { return B * H * chunks() * N * N; }
};

struct Rwkv7Input {
  Rwkv7Shape shape;
  const float *r, *w, *k, *v, *a, *b;
};

// Written by rwkv7 for the backward pass; all nullptr if there will be none.
struct Rwkv7Saved {
  float* recalled = nullptr;  // [B, L, H, N]: what a token found in the state at its a
  float* states = nullptr;    // shape.states_size() floats
};

struct Rwkv7Gradients {
  float *dr, *dw, *dk, *dv, *da, *db;  // overwritten
};

// out is o above, dout its gradient.
void rwkv7(const Rwkv7Input& in, float* out, const Rwkv7Saved& saved);
void rwkv7_backward(const Rwkv7Input& in, const Rwkv7Saved& saved, const float* dout, const Rwkv7Gradients& gradients);

void rwkv7_reference(const Rwkv7Input& in, float* out, const Rwkv7Saved& saved);
void rwkv7_backward_reference(const Rwkv7Input& in, const Rwkv7Saved& saved, const float* dout,
                              const Rwkv7Gradients& gradients);

}  // namespace mneme::kernels
