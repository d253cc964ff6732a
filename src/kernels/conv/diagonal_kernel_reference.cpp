#include <complex>

#include "kernels/conv/diagonal_kernel.h"

namespace mneme::kernels {
namespace {

using Complex = std::complex<double>;

}  // namespace

void diagonal_kernel_reference(const DiagonalKernelArguments& a) {
  const auto [L, N, H] = a.sizes;
  for (std::size_t j = 0; j < L; ++j)
    for (std::size_t h = 0; h < H; ++h) {
      double sum = 0;
      for (std::size_t k = 0; k < N; ++k) {
        const std::size_t at = k * H + h;
        const Complex w(a.w.re[at], a.w.im[at]), pole(a.pole.re[at], a.pole.im[at]);
        sum += 2.0 * (w * std::pow(pole, static_cast<int>(j))).real();
      }
      a.kernel[j * H + h] = static_cast<float>(sum);
    }
}

void diagonal_kernel_backward_reference(const DiagonalKernelBackwardArguments& a) {
  const auto [L, N, H] = a.sizes;
  for (std::size_t at = 0; at < N * H; ++at) {
    const Complex w(a.w.re[at], a.w.im[at]), pole(a.pole.re[at], a.pole.im[at]);
    Complex zeroth = 0, first = 0;
    for (std::size_t j = 0; j < L; ++j) {
      const double dk = a.dk[j * H + at % H];
      zeroth += dk * std::pow(pole, static_cast<int>(j));
      if (j > 0) first += static_cast<double>(j) * dk * std::pow(pole, static_cast<int>(j) - 1);
    }
    const Complex dw = 2.0 * std::conj(zeroth), dpole = 2.0 * std::conj(w * first);
    a.dw.re[at] = dw.real();
    a.dw.im[at] = dw.imag();
    a.dpole.re[at] = dpole.real();
    a.dpole.im[at] = dpole.imag();
  }
}

}  // namespace mneme::kernels
