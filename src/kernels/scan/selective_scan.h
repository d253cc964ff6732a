// selective_scan: the recurrence of Mamba (S6), with its softplus and its gate.
//
//   delta = softplus(pre)
//   h[t, e, n] = exp(delta[t, e] A[e, n]) h[t-1, e, n] + delta[t, e] u[t, e] Bm[t, n],   h[-1] = 0
//   y[t, e] = (sum_n h[t, e, n] Cm[t, n] + D[e] u[t, e]) * silu(z[t, e])                 (no factor without z)
// for each sequence b. float32; A must be <= 0. Rows of u, pre, Bm, Cm, z may stand apart (stride in floats between
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
};

struct SelectiveScanGradients {
  float *du, *dpre;  // [B, L, E]
  float* dA;         // [E, N]
  float *dBm, *dCm;  // [B, L, N]
  float* dD;         // [E]
  float* dz;         // [B, L, E], unused without gate
};

// Floats of `checkpoints`; their layout is the kernel's own.
std::size_t selective_scan_checkpoint_size(const SelectiveScanInput& in);

// y is [B, L, E]. checkpoints may be nullptr if there will be no backward pass.
void selective_scan(const SelectiveScanInput& in, float* y, float* checkpoints);
// dy is [B, L, E], contiguous.
void selective_scan_backward(const SelectiveScanInput& in, const float* checkpoints, const float* dy,
                             const SelectiveScanGradients& out);

void selective_scan_reference(const SelectiveScanInput& in, float* y);
void selective_scan_backward_reference(const SelectiveScanInput& in, const float* dy,
                                       const SelectiveScanGradients& out);

}  // namespace mneme::kernels
