#include <complex>
#include <numbers>
#include <vector>

#include "kernels/conv/cauchy.h"

namespace mneme::kernels {
namespace {

using Complex = std::complex<double>;

struct Node {
  Complex x, e;  // 1 - w, (1 + w) / 2
};

Node node(std::size_t f, std::size_t nodes) {
  const Complex w = std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(f) / static_cast<double>(nodes));
  return {1.0 - w, 0.5 * (1.0 + w)};
}

template <class Number>
Complex at(const ComplexArray<Number>& array, std::size_t i) {
  return {array.re[i], array.im[i]};
}

void put(const ComplexArray<double>& array, std::size_t i, const Complex& value) {
  array.re[i] = value.real();
  array.im[i] = value.imag();
}

}  // namespace

void cauchy_reference(const CauchyInput& in, const ComplexArray<double>& out) {
  const auto [V, H, N, M] = in.shape;
  const std::size_t F = in.shape.frequencies();
  for (std::size_t v = 0; v < V; ++v)
    for (std::size_t h = 0; h < H; ++h)
      for (std::size_t f = 0; f < F; ++f) {
        const auto [x, e] = node(f, M);
        Complex sum = 0;
        for (std::size_t n = 0; n < N; ++n) {
          const Complex u = at(in.u, (v * H + h) * N + n), a = at(in.a, h * N + n);
          sum += u / (x - a * e) + std::conj(u) / (x - std::conj(a) * e);
        }
        put(out, (v * H + h) * F + f, sum);
      }
}

void cauchy_backward_reference(const CauchyInput& in, const ComplexArray<const double>& dout,
                               const CauchyGradients& gradients) {
  const auto [V, H, N, M] = in.shape;
  const std::size_t F = in.shape.frequencies();
  for (std::size_t h = 0; h < H; ++h)
    for (std::size_t n = 0; n < N; ++n) {
      const Complex a = at(in.a, h * N + n);
      Complex da1 = 0, da2 = 0;
      for (std::size_t v = 0; v < V; ++v) {
        const Complex u = at(in.u, (v * H + h) * N + n);
        Complex du1 = 0, du2 = 0;
        for (std::size_t f = 0; f < F; ++f) {
          const auto [x, e] = node(f, M);
          const Complex r1 = 1.0 / (x - a * e), r2 = 1.0 / (x - std::conj(a) * e);
          const Complex ds = at(dout, (v * H + h) * F + f);
          du1 += std::conj(r1) * ds;
          du2 += std::conj(r2) * ds;
          da1 += std::conj(u * e * r1 * r1) * ds;
          da2 += std::conj(std::conj(u) * e * r2 * r2) * ds;
        }
        put(gradients.du, (v * H + h) * N + n, du1 + std::conj(du2));
      }
      put(gradients.da, h * N + n, da1 + std::conj(da2));
    }
}

}  // namespace mneme::kernels
