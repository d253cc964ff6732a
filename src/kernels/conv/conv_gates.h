// conv_gates: the products before and behind Hyena's long convolution, and their gradients.
//
//   open:  v[b, t, c] = u_0[b, t, c] * u_2[b, t, c]
//   close: z[b, t, c] = g[b, t, c] * u_1[b, t, c],   g[b, t, c] = y[b, t, c] + skip[c] * v[b, t, c], written over y
// u [B, L, 3C] holds u_0, u_1 and u_2 of a token side by side; y, the convolution of v, and all others [B, L, C], skip,
// dskip [C]: float32, contiguous. Backward, first close, then the convolution's own, then open:
//   close: dy = dz * u_1, du_1 = dz * g, dskip = sum dy * v (over a sequence in float32, over sequences in double)
//   open:  w = dv + skip * dy, du_0 = w * u_2, du_2 = w * u_0
// with dv the gradient that comes back through the convolution. du [B, L, 3C] is whole once both have run. Outputs are
// overwritten and alias nothing.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct ConvGates {
  std::size_t B, L, C;
  const float* u;
  const float* skip;
};

void open_gate(const ConvGates& gates, float* v);
void close_gate(const ConvGates& gates, const float* v, float* y, float* z);

struct CloseGateGradients {
  const float* v;
  const float* g;
  const float* dz;
  float* dy;
  float* du;  // u_1's part
  float* dskip;
};

void close_gate_backward(const ConvGates& gates, const CloseGateGradients& gradients);
// du: the parts of u_0 and u_2.
void open_gate_backward(const ConvGates& gates, const float* dy, const float* dv, float* du);

void open_gate_reference(const ConvGates& gates, float* v);
void close_gate_reference(const ConvGates& gates, const float* v, float* y, float* z);
void close_gate_backward_reference(const ConvGates& gates, const CloseGateGradients& gradients);
void open_gate_backward_reference(const ConvGates& gates, const float* dy, const float* dv, float* du);

}  // namespace mneme::kernels
