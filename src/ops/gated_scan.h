// The matrix state of linear attention, with decay, as a differentiable operation (formula: kernels/scan/gated_scan.h).
#pragma once

#include "ops/positions.h"
#include "ops/torch.h"

namespace mneme::ops {

// q, k [B, L, G, K]; v [B, L, H, V], G divides H; log_decay not positive and undefined (no decay), [H] (constant, no
// gradient), [B, L, H] or [B, L, G, K]; weight, of the values, undefined (1) or [B, L, H]. Returns o [B, L, H, V],
// or [R, H, V] at the given positions.
torch::Tensor gated_scan(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                         const torch::Tensor& log_decay, const torch::Tensor& weight = {},
                         const Positions& positions = {});

// One token of the same: S [B, H, K, V] is moved on; all others without their L.
torch::Tensor gated_scan_step(torch::Tensor& S, const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                              const torch::Tensor& log_decay);

}  // namespace mneme::ops
