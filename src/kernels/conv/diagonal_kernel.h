// diagonal_kernel: the convolution kernel of a diagonal state-space model with conjugate pairs, and back.
//
//   kernel[j, h] = 2 Re sum_k w[k, h] * pole[k, h]^j,  j = 0..L-1
// With g(z) = d/dRe z + i d/dIm z of a real loss whose gradient at the kernel is dk:
//   dw[k, h]    = 2 conj(sum_j dk[j, h] pole^j)
//   dpole[k, h] = 2 conj(w sum_j j dk[j, h] pole^(j-1))
// w, pole and their gradients are complex with the parts as two arrays of doubles, [N, H], H innermost; kernel and
// dk are float32 [L, H]. Powers are made by repeated multiplication in double: the error grows as 1e-16 * L.
// The order of summation is fixed.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct DiagonalKernelShape {
  std::size_t L, N, H;
};

template <class Number>
struct ComplexArray {
  Number* re;
  Number* im;
};

struct DiagonalKernelInput {
  DiagonalKernelShape shape;
  ComplexArray<const double> w, pole;  // [N, H]
};

struct DiagonalKernelGradients {
  ComplexArray<double> dw, dpole;  // overwritten
};

// out is the kernel, dout its gradient dk.
void diagonal_kernel(const DiagonalKernelInput& in, float* out);
void diagonal_kernel_backward(const DiagonalKernelInput& in, const float* dout,
                              const DiagonalKernelGradients& gradients);

void diagonal_kernel_reference(const DiagonalKernelInput& in, float* out);
void diagonal_kernel_backward_reference(const DiagonalKernelInput& in, const float* dout,
                                        const DiagonalKernelGradients& gradients);

}  // namespace mneme::kernels
