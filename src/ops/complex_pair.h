// Complex numbers as two real tensors: state-space models store their parameters so, and real gradients need no
// complex types.
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

struct ComplexPair {
  torch::Tensor re, im;
};

// A tensor [..., 2] of (re, im).
inline ComplexPair complex_pair(const torch::Tensor& stored) { return {stored.select(-1, 0), stored.select(-1, 1)}; }

inline ComplexPair operator*(const ComplexPair& a, const ComplexPair& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

inline ComplexPair operator*(const torch::Tensor& real, const ComplexPair& a) { return {real * a.re, real * a.im}; }

inline ComplexPair operator+(const ComplexPair& a, const ComplexPair& b) { return {a.re + b.re, a.im + b.im}; }

inline ComplexPair conjugate(const ComplexPair& a) { return {a.re, -a.im}; }

inline ComplexPair operator/(const ComplexPair& a, const ComplexPair& b) {
  const ComplexPair above = a * conjugate(b);
  const torch::Tensor below = b.re * b.re + b.im * b.im;
  return {above.re / below, above.im / below};
}

inline ComplexPair exponential(const ComplexPair& a) {
  const torch::Tensor radius = torch::exp(a.re);
  return {radius * torch::cos(a.im), radius * torch::sin(a.im)};
}

// exp(a) - 1 without cancellation near 0.
inline ComplexPair exponential_minus_one(const ComplexPair& a) {
  const torch::Tensor half = torch::sin(0.5 * a.im);
  return {torch::expm1(a.re) * torch::cos(a.im) - 2.0 * half * half, torch::exp(a.re) * torch::sin(a.im)};
}

}  // namespace mneme::ops
