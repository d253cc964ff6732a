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

struct DiagonalKernelSizes {
  std::size_t length, modes, channels;  // L, N, H
};

template <class Number>
struct ComplexArray {
  Number* re;
  Number* im;
};

struct DiagonalKernelArguments {
  DiagonalKernelSizes sizes;
  ComplexArray<const double> w;     // [N, H]
  ComplexArray<const double> pole;  // [N, H]
  float* kernel;                    // [L, H]
};

struct DiagonalKernelBackwardArguments {
  DiagonalKernelSizes sizes;
  ComplexArray<const double> w;
  ComplexArray<const double> pole;
  const float* dk;  // [L, H]
  ComplexArray<double> dw;
  ComplexArray<double> dpole;
};

void diagonal_kernel(const DiagonalKernelArguments& arguments);
void diagonal_kernel_reference(const DiagonalKernelArguments& arguments);

void diagonal_kernel_backward(const DiagonalKernelBackwardArguments& arguments);
void diagonal_kernel_backward_reference(const DiagonalKernelBackwardArguments& arguments);

}  // namespace mneme::kernels
