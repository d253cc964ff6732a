#include "kernels/dense/linear.h"

#include <cblas.h>

#include <algorithm>

#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dense/linear.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dense/matmul-inl.h"
#include "kernels/dense/outer_products-inl.h"
#include "kernels/simd/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

void linear_simd(const LinearShape& s, const float* x, const float* weight, const float* bias, float* out) {
  Panels panels(s.in, s.out);
  panels.pack_transposed(weight, s.in, bias);
  multiply({x, s.in, 1}, s.T, panels, out, s.out);
}

void linear_backward_simd(const LinearShape& s, const float* x, const float* weight, const float* dout,
                          const LinearGradients& to) {
  Panels panels(s.out, to.dx ? s.in : 0);
  if (to.dx) panels.pack(weight, s.in);
  OuterProducts products(to.dweight ? s.T : 0, s.out, s.in, to.dweight, s.in);
  // In blocks, so that dout comes from far away once.
  for (std::size_t t = 0; t < s.T; t += kTokenBlock) {
    const std::size_t tokens = std::min(kTokenBlock, s.T - t);
    const float* block = dout + t * s.out;
    if (to.dx) multiply({block, s.out, 1}, tokens, panels, to.dx + t * s.in, s.in);
    if (to.dweight) products.add(block, s.out, x + t * s.in, s.in, tokens);
    if (to.dbias) add_rows(block, s.out, tokens, s.out, to.dbias);
  }
  if (to.dweight) products.finish();
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(linear_simd);
HWY_EXPORT(linear_backward_simd);

namespace {

// Matrices that OpenBLAS multiplies faster: docs/performance.md compares.
bool is_large(const LinearShape& s) { return s.in * s.out > 131072; }

// c = op(a) op(b) + beta * c, row-major without gaps.
void gemm(CBLAS_TRANSPOSE a_as, CBLAS_TRANSPOSE b_as, std::size_t m, std::size_t n, std::size_t k, const float* a,
          const float* b, float beta, float* c) {
  const auto M = static_cast<int>(m), N = static_cast<int>(n), K = static_cast<int>(k);
  cblas_sgemm(CblasRowMajor, a_as, b_as, M, N, K, 1, a, a_as == CblasTrans ? M : K, b, b_as == CblasTrans ? K : N, beta,
              c, N);
}

void linear_large(const LinearShape& s, const float* x, const float* weight, const float* bias, float* out) {
  if (bias)
    for (std::size_t t = 0; t < s.T; ++t) std::copy_n(bias, s.out, out + t * s.out);
  gemm(CblasNoTrans, CblasTrans, s.T, s.out, s.in, x, weight, bias ? 1.0F : 0.0F, out);
}

void linear_backward_large(const LinearShape& s, const float* x, const float* weight, const float* dout,
                           const LinearGradients& to) {
  if (to.dx) gemm(CblasNoTrans, CblasNoTrans, s.T, s.in, s.out, dout, weight, 0, to.dx);
  if (to.dweight) gemm(CblasTrans, CblasNoTrans, s.out, s.in, s.T, dout, x, 1, to.dweight);
  // What is left is small.
  HWY_DYNAMIC_DISPATCH(linear_backward_simd)(s, x, weight, dout, {nullptr, nullptr, to.dbias});
}

}  // namespace

void linear(const LinearShape& shape, const float* x, const float* weight, const float* bias, float* out) {
  if (use_reference()) return linear_reference(shape, x, weight, bias, out);
  if (is_large(shape)) return linear_large(shape, x, weight, bias, out);
  HWY_DYNAMIC_DISPATCH(linear_simd)(shape, x, weight, bias, out);
}

void linear_backward(const LinearShape& shape, const float* x, const float* weight, const float* dout,
                     const LinearGradients& gradients) {
  if (use_reference()) return linear_backward_reference(shape, x, weight, dout, gradients);
  if (is_large(shape)) return linear_backward_large(shape, x, weight, dout, gradients);
  HWY_DYNAMIC_DISPATCH(linear_backward_simd)(shape, x, weight, dout, gradients);
}

}  // namespace mneme::kernels
#endif
