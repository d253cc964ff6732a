// cauchy: the sums over poles from which the generating function of a state-space model is made, and back.
//
// With M nodes w_f = exp(-2 pi i f / M), f = 0..F-1, F = M/2 + 1, e_f = (1 + w_f) / 2 and d(a) = (1 - w_f) - a e_f:
//   s[v, h, f] = sum_n  u[v, h, n] / d(a[h, n]) + conj(u[v, h, n]) / d(conj(a[h, n]))
// and for g(z) = d/dRe z + i d/dIm z of a real loss, with ds = g(s) given:
//   du[v, h, n] = sum_f conj(1/d(a)) ds + conj(sum_f conj(1/d(conj a)) ds)
//   da[h, n]    = sum_v,f conj(u e / d(a)^2) ds + conj(sum_v,f conj(conj(u) e / d(conj a)^2) ds)
// All arrays are float64 with the real and imaginary parts apart: u, du [V, H, N], a, da [H, N], s, ds [V, H, F].
// Outputs are overwritten. The order of summation is fixed.
#pragma once

#include <cstddef>

#include "kernels/conv/diagonal_kernel.h"

namespace mneme::kernels {

struct CauchyShape {
  std::size_t V, H, N, M;
  std::size_t frequencies() const { return M / 2 + 1; }
};

struct CauchyInput {
  CauchyShape shape;
  ComplexArray<const double> u, a;
};

struct CauchyGradients {
  ComplexArray<double> du, da;
};

// out is s above, dout its gradient.
void cauchy(const CauchyInput& in, const ComplexArray<double>& out);
void cauchy_backward(const CauchyInput& in, const ComplexArray<const double>& dout, const CauchyGradients& gradients);

void cauchy_reference(const CauchyInput& in, const ComplexArray<double>& out);
void cauchy_backward_reference(const CauchyInput& in, const ComplexArray<const double>& dout,
                               const CauchyGradients& gradients);

}  // namespace mneme::kernels
