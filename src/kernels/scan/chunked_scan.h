// The chunked form of gated_scan (gated_scan.h) for decays that all keys of a head share: matrix products over chunks
// of kGatedScanChunk tokens instead of a token after the other.
//
// With l[t] the sum of the log decays of a chunk up to t, S the state before it, and v[s] times its weight,
//   o[t] = exp(l[t]) S^T q[t] + sum_{s <= t} exp(l[t] - l[s]) (q[t] . k[s]) v[s]
//   S'   = exp(l[end]) S + sum_s exp(l[end] - l[s]) k[s] v[s]^T
// No exponent is positive. Heads of a group share the products of queries and keys.
#pragma once

#include "kernels/scan/gated_scan.h"

namespace mneme::kernels {

// Floats of the saved states: the state before each chunk, [B, H, chunks, K, V].
std::size_t chunked_scan_states_size(const GatedScanInput& in);

void chunked_scan(const GatedScanInput& in, float* out, const GatedScanSaved& saved);
void chunked_scan_backward(const GatedScanInput& in, const GatedScanSaved& saved, const float* dout,
                           const GatedScanGradients& gradients);

}  // namespace mneme::kernels
