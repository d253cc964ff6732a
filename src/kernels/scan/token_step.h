// One token of a recurrence: what `step` of a mixer computes where no gradient is recorded.
//
// Everything is contiguous but for Rows, and float32. `after` may be `before`; nothing else may overlap. Sums have a
// fixed order, and a sequence does not depend on the others.
#pragma once

#include <cstddef>

#include "kernels/scan/selective_scan.h"

namespace mneme::kernels {

// The formula of selective_scan.h for one token (in.L = 1) with the state h: before, after [B, E, N], out [B, E].
void selective_step(const SelectiveScanInput& in, const float* before, float* after, float* out);
void selective_step_reference(const SelectiveScanInput& in, const float* before, float* after, float* out);

// A matrix S [K, V] for each of R rows (a head of a sequence):
//   S' = diag(decay) S                          (S without decay)
//   e = v, or with beta: beta (v - S'^T k)      (the delta rule)
//   S'' = S' + k e^T,   o = S''^T q
struct MatrixStepInput {
  std::size_t R, K, V;
  const float *q, *k;  // [R, K]
  const float* v;      // [R, V]
  const float* decay;  // [R, K], or null
  const float* beta;   // [R], or null
};
// before, after [R, K, V] are S and S''; out [R, V] is o.
void matrix_step(const MatrixStepInput& in, const float* before, float* after, float* out);
void matrix_step_reference(const MatrixStepInput& in, const float* before, float* after, float* out);

// Complex states s [B, H, n], real and imaginary parts side by side, one number x in for each channel and one out:
//   s' = pole s + input x,   y = Re sum_n output s'
// Coefficients are [H, n, 2], for the real and for the imaginary part of s'. A pole that lasts is multiplied with
// itself for thousands of tokens, so it has twice the digits of a float: what its rounding left is added as a second
// term.
struct DiagonalStepInput {
  std::size_t B, H, n;
  const float* x;                         // [B, H]
  const float *along, *across;            // of the pole: (re, re) and (-im, im)
  const float *along_rest, *across_rest;  // what the rounding of these left
  const float *input, *output;            // (re, im) and (re, -im)
};
// before, after [B, H, n, 2] are s and s'; out [B, H] is y.
void diagonal_step(const DiagonalStepInput& in, const float* before, float* after, float* out);
void diagonal_step_reference(const DiagonalStepInput& in, const float* before, float* after, float* out);

}  // namespace mneme::kernels
