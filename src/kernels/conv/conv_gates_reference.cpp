#include <vector>

#include "kernels/conv/conv_gates.h"

namespace mneme::kernels {
namespace {

// Calls visit(at, in, c) for all tokens and channels: `at` in [B, L, C], `in` in [B, L, 3C].
template <class Visit>
void over_tokens(const ConvGates& s, Visit visit) {
  for (std::size_t t = 0; t < s.B * s.L; ++t)
    for (std::size_t c = 0; c < s.C; ++c) visit(t * s.C + c, 3 * t * s.C + c, c);
}

}  // namespace

void open_gate_reference(const ConvGates& s, float* v) {
  over_tokens(s, [&](std::size_t at, std::size_t in, std::size_t) { v[at] = s.u[in] * s.u[in + 2 * s.C]; });
}

void close_gate_reference(const ConvGates& s, const float* v, float* y, float* z) {
  over_tokens(s, [&](std::size_t at, std::size_t in, std::size_t c) {
    y[at] += s.skip[c] * v[at];
    z[at] = y[at] * s.u[in + s.C];
  });
}

void close_gate_backward_reference(const ConvGates& s, const CloseGateGradients& a) {
  std::vector<double> sums(s.C, 0.0);
  over_tokens(s, [&](std::size_t at, std::size_t in, std::size_t c) {
    a.dy[at] = a.dz[at] * s.u[in + s.C];
    a.du[in + s.C] = a.dz[at] * a.g[at];
    sums[c] += static_cast<double>(a.dy[at]) * a.v[at];
  });
  for (std::size_t c = 0; c < s.C; ++c) a.dskip[c] = static_cast<float>(sums[c]);
}

void open_gate_backward_reference(const ConvGates& s, const float* dy, const float* dv, float* du) {
  over_tokens(s, [&](std::size_t at, std::size_t in, std::size_t c) {
    const float w = dv[at] + s.skip[c] * dy[at];
    du[in] = w * s.u[in + 2 * s.C];
    du[in + 2 * s.C] = w * s.u[in];
  });
}

}  // namespace mneme::kernels
