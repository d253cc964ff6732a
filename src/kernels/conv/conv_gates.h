// conv_gates: the products before and after Hyena's long convolution, and their gradients.
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

struct ConvGatesInput {
  std::size_t B, L, C;
  const float *u, *skip;
};

// What closing leaves for its backward pass: v as it was, and g where y was.
struct CloseGateSaved {
  const float* v;
  float* g;
};

struct CloseGateGradients {
  float* dy;
  float* du;  // u_1's part
  float* dskip;
};

// out is v when opening, z when closing; dout is the gradient of z.
void open_gate(const ConvGatesInput& in, float* out);
void close_gate(const ConvGatesInput& in, float* out, const CloseGateSaved& saved);
void close_gate_backward(const ConvGatesInput& in, const CloseGateSaved& saved, const float* dout,
                         const CloseGateGradients& gradients);
// du: the parts of u_0 and u_2.
void open_gate_backward(const ConvGatesInput& in, const float* dy, const float* dv, float* du);

void open_gate_reference(const ConvGatesInput& in, float* out);
void close_gate_reference(const ConvGatesInput& in, float* out, const CloseGateSaved& saved);
void close_gate_backward_reference(const ConvGatesInput& in, const CloseGateSaved& saved, const float* dout,
                                   const CloseGateGradients& gradients);
void open_gate_backward_reference(const ConvGatesInput& in, const float* dy, const float* dv, float* du);

}  // namespace mneme::kernels
