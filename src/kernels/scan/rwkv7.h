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

struct Rwkv7Inputs {
  Rwkv7Shape shape;
  const float *r, *w, *k, *v, *a, *b;
};

struct Rwkv7Gradients {
  const float* dO;
  float *dr, *dw, *dk, *dv, *da, *db;  // overwritten
};

// `recalled` [B, L, H, N] (the p) and `states` are filled for the backward pass; both nullptr if there will be none.
void rwkv7_forward(const Rwkv7Inputs& inputs, float* o, float* recalled, float* states);
void rwkv7_backward(const Rwkv7Inputs& inputs, const float* recalled, const float* states,
                    const Rwkv7Gradients& gradients);

// Plain recurrences in double that keep every state; `recalled` and `states` are neither written nor read.
void rwkv7_forward_reference(const Rwkv7Inputs& inputs, float* o, float* recalled, float* states);
void rwkv7_backward_reference(const Rwkv7Inputs& inputs, const float* recalled, const float* states,
                              const Rwkv7Gradients& gradients);

}  // namespace mneme::kernels
