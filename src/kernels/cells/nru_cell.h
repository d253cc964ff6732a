// nru_cell: what happens in one step of a non-saturating recurrent unit after its matrix products, and back.
//
// R rows; a state row is [h (H) | m (M)]. With k heads and s = sqrt(k M):
//   hidden   q = [relu(p) | m_old], or relu(LayerNorm(p) * gain + shift) with eps 1e-5 (biased variance)
//   memory   o = [alpha (k) | beta (k) | a0 (s) a1 (s) | b0 (s) b1 (s)], f = relu or identity
//            W = rows of f(a0 a1^T), flattened and cut into k pieces of M, each over max(its L5 norm, 1e-12);
//            E the same of b0 b1^T;  next = [h | m_old + (1/k) sum_j f(alpha_j) W_j - f(beta_j) E_j]
//   plain    o = [h (H) | alpha | beta | write (M) | erase (M)]:
//            next = [relu(h) | m_old + relu(alpha) relu(write) - relu(beta) relu(erase)]
// The L5 norm is taken relative to the largest entry, so it does not underflow. The derivative of relu at 0 is 0.
// float32, contiguous rows; outputs alias nothing. Rows are independent, sums have a fixed order.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct NruShape {
  std::size_t R, H, M, k, s;
  std::size_t state() const { return H + M; }
  std::size_t outputs() const { return 2 * k + 4 * s; }
};

struct NruHiddenInput {
  NruShape shape;
  const float* p;             // [R, H]
  const float* old;           // [R, H+M]; the backward pass does not read it
  const float *gain, *shift;  // [H]; both nullptr: no LayerNorm
};

struct NruHiddenGradients {
  float* dp;              // [R, H]
  float* dold;            // [R, H+M] = [0 | dq of m]
  float *dgain, *dshift;  // [H], added to; nullptr without LayerNorm
};

struct NruMemoryInput {
  NruShape shape;
  bool relu;
  const float* o;  // [R, 2k+4s]
  const float* q;  // [R, H+M]; the backward pass does not read it
};

struct NruPlainInput {
  NruShape shape;
  const float* o;    // [R, H+2+2M]
  const float* old;  // [R, H+M]; the backward pass does not read it
};

struct NruPlainGradients {
  float* d_o;   // [R, H+2+2M]
  float* dold;  // [R, H+M] = [0 | dnext of m]
};

// q [R, H+M] is the output; the backward pass reads it.
void nru_hidden(const NruHiddenInput& in, float* q);
void nru_hidden_backward(const NruHiddenInput& in, const float* q, const float* dq,
                         const NruHiddenGradients& gradients);

// next [R, H+M]. dnext reaches q unchanged; the backward pass computes only what goes through o.
void nru_memory(const NruMemoryInput& in, float* next);
void nru_memory_backward(const NruMemoryInput& in, const float* dnext, float* d_o);

// next [R, H+M].
void nru_plain(const NruPlainInput& in, float* next);
void nru_plain_backward(const NruPlainInput& in, const float* dnext, const NruPlainGradients& gradients);

void nru_hidden_reference(const NruHiddenInput& in, float* q);
void nru_hidden_backward_reference(const NruHiddenInput& in, const float* q, const float* dq,
                                   const NruHiddenGradients& gradients);
void nru_memory_reference(const NruMemoryInput& in, float* next);
void nru_memory_backward_reference(const NruMemoryInput& in, const float* dnext, float* d_o);
void nru_plain_reference(const NruPlainInput& in, float* next);
void nru_plain_backward_reference(const NruPlainInput& in, const float* dnext, const NruPlainGradients& gradients);

}  // namespace mneme::kernels
