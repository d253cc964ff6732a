#include <complex>

#include "kernels/conv/diagonal_kernel.h"

namespace mneme::kernels {
namespace {

using Complex = std::complex<double>;

}  // namespace

void diagonal_kernel_reference(const DiagonalKernelInput& in, float* out) {
  const auto [L, N, H] = in.shape;
  for (std::size_t j = 0; j < L; ++j)
    for (std::size_t h = 0; h < H; ++h) {
      double sum = 0;
      for (std::size_t k = 0; k < N; ++k) {
        const std::size_t at = k * H + h;
        const Complex w(in.w.re[at], in.w.im[at]), pole(in.pole.re[at], in.pole.im[at]);
        sum += 2.0 * (w * std::pow(pole, static_cast<int>(j))).real();
      }
      out[j * H + h] = static_cast<float>(sum);
    }
}

void diagonal_kernel_backward_reference(const DiagonalKernelInput& in, const float* dout,
                                        const DiagonalKernelGradients& gradients) {
  const auto [L, N, H] = in.shape;
  for (std::size_t at = 0; at < N * H; ++at) {
    const Complex w(in.w.re[at], in.w.im[at]), pole(in.pole.re[at], in.pole.im[at]);
    Complex zeroth = 0, first = 0;
    for (std::size_t j = 0; j < L; ++j) {
      const double dk = dout[j * H + at % H];
      zeroth += dk * std::pow(pole, static_cast<int>(j));
      if (j > 0) first += static_cast<double>(j) * dk * std::pow(pole, static_cast<int>(j) - 1);
    }
    const Complex dw = 2.0 * std::conj(zeroth), dpole = 2.0 * std::conj(w * first);
    gradients.dw.re[at] = dw.real();
    gradients.dw.im[at] = dw.imag();
    gradients.dpole.re[at] = dpole.real();
    gradients.dpole.im[at] = dpole.imag();
  }
}

}  // namespace mneme::kernels
