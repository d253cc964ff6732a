// taylor_features: phi(x) such that phi(q) . phi(k) = 1 + s + s^2 / 2 with s = q . k / sqrt(F).
//
//   phi = [1, x_i / F^(1/4) for each i, c_ij x_i x_j for i <= j],   c_ii = 1 / sqrt(2 F), c_ij = 1 / sqrt(F)
// Pairs are ordered by i, then j. x is [R, F], phi [R, taylor_features_width(F)]: float32, contiguous. Rows are
// independent and each sum has a fixed order. Outputs are overwritten and must not alias inputs.
#pragma once

#include <cstddef>

namespace mneme::kernels {

constexpr std::size_t taylor_features_width(std::size_t F) { return 1 + F + F * (F + 1) / 2; }

void taylor_features(const float* x, std::size_t R, std::size_t F, float* phi);
// dx [R, F] from dphi.
void taylor_features_backward(const float* x, const float* dphi, std::size_t R, std::size_t F, float* dx);

void taylor_features_reference(const float* x, std::size_t R, std::size_t F, float* phi);
void taylor_features_backward_reference(const float* x, const float* dphi, std::size_t R, std::size_t F, float* dx);

}  // namespace mneme::kernels
