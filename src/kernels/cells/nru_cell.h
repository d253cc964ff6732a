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

struct NruSizes {
  std::size_t rows, hidden, memory, heads, side;  // R, H, M, k, s
  std::size_t state() const { return hidden + memory; }
  std::size_t outputs() const { return 2 * heads + 4 * side; }
};

struct NruHiddenArguments {
  NruSizes sizes;
  const float* p;      // [R, H]
  const float* old;    // [R, H+M]
  const float* gain;   // [H]; nullptr: no LayerNorm
  const float* shift;  // [H]; nullptr with gain
  float* q;            // [R, H+M]
};

struct NruHiddenBackwardArguments {
  NruSizes sizes;
  const float* p;
  const float* q;
  const float* gain;
  const float* dq;  // [R, H+M]
  float* dp;        // [R, H]
  float* dold;      // [R, H+M] = [0 | dq of m]
  float* dgain;     // [H], added to; nullptr without LayerNorm
  float* dshift;    // [H], added to
};

struct NruMemoryArguments {
  NruSizes sizes;
  bool relu;
  const float* o;  // [R, 2k+4s]
  const float* q;  // [R, H+M]
  float* next;     // [R, H+M]
};

// dnext reaches q unchanged; only what goes through o is computed here.
struct NruMemoryBackwardArguments {
  NruSizes sizes;
  bool relu;
  const float* o;
  const float* dnext;  // [R, H+M]
  float* d_o;          // [R, 2k+4s]
};

struct NruPlainArguments {
  NruSizes sizes;
  const float* o;    // [R, H+2+2M]
  const float* old;  // [R, H+M]
  float* next;       // [R, H+M]
};

struct NruPlainBackwardArguments {
  NruSizes sizes;
  const float* o;
  const float* dnext;  // [R, H+M]
  float* d_o;          // [R, H+2+2M]
  float* dold;         // [R, H+M] = [0 | dnext of m]
};

void nru_hidden(const NruHiddenArguments& arguments);
void nru_hidden_reference(const NruHiddenArguments& arguments);
void nru_hidden_backward(const NruHiddenBackwardArguments& arguments);
void nru_hidden_backward_reference(const NruHiddenBackwardArguments& arguments);

void nru_memory(const NruMemoryArguments& arguments);
void nru_memory_reference(const NruMemoryArguments& arguments);
void nru_memory_backward(const NruMemoryBackwardArguments& arguments);
void nru_memory_backward_reference(const NruMemoryBackwardArguments& arguments);

void nru_plain(const NruPlainArguments& arguments);
void nru_plain_reference(const NruPlainArguments& arguments);
void nru_plain_backward(const NruPlainBackwardArguments& arguments);
void nru_plain_backward_reference(const NruPlainBackwardArguments& arguments);

}  // namespace mneme::kernels
