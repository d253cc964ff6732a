// selective_scan: the recurrence of Mamba (S6), with its softplus and its gate.
//
//   delta = softplus(pre)
//   h[t, e, n] = exp(delta[t, e] A[e, n]) h[t-1, e, n] + delta[t, e] u[t, e] Bm[t, n],   h[-1] = 0
//   y[t, e] = (sum_n h[t, e, n] Cm[t, n] + D[e] u[t, e]) * silu(z[t, e])                 (no factor without z)
// for each sequence b. float32; A must be <= 0. Rows of u, pre, Bm, Cm, z may be apart (stride in floats between
// tokens); everything else is contiguous. Outputs are overwritten and must not alias inputs.
//
// Every sum has a fixed order, and y[t] depends on tokens up to t only, to the bit. The backward pass
// starts from states kept every kSelectiveScanChunk tokens and recomputes those between: memory beside the inputs and
// outputs is N / kSelectiveScanChunk floats per (token, channel).
#pragma once

#include <cstddef>

#include "kernels/simd/aligned_floats.h"

namespace mneme::kernels {

inline constexpr std::size_t kSelectiveScanChunk = 16;

struct SelectiveScanInput {
  std::size_t B, L, E, N;
  Rows u, pre;     // [B, L, E]
  const float* A;  // [E, N]
  Rows Bm, Cm;     // [B, L, N]
  const float* D;  // [E]
  Rows z;          // [B, L, E]; data == nullptr: no gate

  std::size_t states_size() const { return B * ((L + kSelectiveScanChunk - 1) / kSelectiveScanChunk) * padded(E) * N; }
};

// Written by selective_scan for the backward pass.
struct SelectiveScanSaved {
  float* states = nullptr;  // states_size() floats in the kernel's own order; nullptr if there will be no backward pass
};

struct SelectiveScanGradients {
  float *du, *dpre;  // [B, L, E]
  float* dA;         // [E, N]
  float *dBm, *dCm;  // [B, L, N]
  float* dD;         // [E]
  float* dz;         // [B, L, E], unused without gate
};

// out is y above, [B, L, E], and dout its gradient. The references save nothing.
void selective_scan(const SelectiveScanInput& in, float* out, const SelectiveScanSaved& saved);
void selective_scan_backward(const SelectiveScanInput& in, const SelectiveScanSaved& saved, const float* dout,
                             const SelectiveScanGradients& gradients);

void selective_scan_reference(const SelectiveScanInput& in, float* out, const SelectiveScanSaved& saved);
void selective_scan_backward_reference(const SelectiveScanInput& in, const SelectiveScanSaved& saved, const float* dout,
                                       const SelectiveScanGradients& gradients);

}  // namespace mneme::kernels
