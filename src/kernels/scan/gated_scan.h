// gated_scan: the matrix state of linear attention, with decay.
//
//   S[t] = diag(exp(g[t])) S[t-1] + w[t] k[t] v[t]^T,   o[t] = S[t]^T q[t],   S is [K, V], S[-1] = 0
// for each sequence and head. q, k are [B, L, G, K], v and o [B, L, H, V]; G divides H and head h reads the queries
// and keys of group h / (H / G). The log decay g is <= 0 and one of
//   none      g = 0                        (linear attention)
//   constant  [H]                          (RetNet); it has no gradient
//   head      [B, L, H], for all keys      (Mamba-2)
//   channel   [B, L, G, K]                 (GLA)
// The weights w are [B, L, H] (Mamba-2's step sizes), or there are none: 1.
// If only some outputs are needed, `positions` has their R indices into [B * L], ascending, each once; o and its
// gradient are then [R, H, V], and the gradient of every other query is zero.
// float32. Tokens of q, k, v, g, w may be apart (stride in floats); everything else is contiguous. Outputs are
// overwritten and must not alias inputs.
//
// Every sum has a fixed order, and o[t] depends on tokens up to t only, to the bit. The backward pass
// starts from states kept every kGatedScanChunk tokens and recomputes those between.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/simd/aligned_floats.h"

namespace mneme::kernels {

inline constexpr std::size_t kGatedScanChunk = 32;

enum class Decay { none, constant, head, channel };

struct GatedScanInput {
  std::size_t B, L, H, G, K, V;
  Rows q, k, v;
  Decay decay;
  Rows g;
  Rows w = {};
  const std::int64_t* positions = nullptr;  // nullptr: all
  std::size_t R = 0;                        // their number

  std::size_t outputs() const { return positions ? R : B * L; }
  std::size_t states_size() const;
  float weight(std::size_t token, std::size_t h) const { return w.data ? w[token][h] : 1.0F; }
};

// Written by gated_scan for the backward pass.
struct GatedScanSaved {
  float* states = nullptr;  // states_size() floats in the kernel's own order; nullptr if there will be no backward pass
};

struct GatedScanGradients {
  float *dq, *dk;       // [B, L, G, K]
  float* dv;            // [B, L, H, V]
  float* dg;            // as g; unused if it is none or constant
  float* dw = nullptr;  // [B, L, H]; unused if there are no weights
};

// out is o above, [B, L, H, V] or [R, H, V], and dout its gradient.
void gated_scan(const GatedScanInput& in, float* out, const GatedScanSaved& saved);
void gated_scan_backward(const GatedScanInput& in, const GatedScanSaved& saved, const float* dout,
                         const GatedScanGradients& gradients);

// The references ignore `positions` and save nothing.
void gated_scan_reference(const GatedScanInput& in, float* out, const GatedScanSaved& saved);
void gated_scan_backward_reference(const GatedScanInput& in, const GatedScanSaved& saved, const float* dout,
                                   const GatedScanGradients& gradients);

}  // namespace mneme::kernels
