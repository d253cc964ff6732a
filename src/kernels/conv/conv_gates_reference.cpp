#include <vector>

#include "kernels/conv/conv_gates.h"

namespace mneme::kernels {
namespace {

// Calls visit(at, in, c) for all tokens and channels: `at` in [B, L, C], `in` in [B, L, 3C].
template <class Visit>
void over_tokens(const ConvGatesInput& s, Visit visit) {
  for (std::size_t t = 0; t < s.B * s.L; ++t)
    for (std::size_t c = 0; c < s.C; ++c) visit(t * s.C + c, 3 * t * s.C + c, c);
}

}  // namespace

void open_gate_reference(const ConvGatesInput& s, float* v) {
  over_tokens(s, [&](std::size_t at, std::size_t in, std::size_t) { v[at] = s.u[in] * s.u[in + 2 * s.C]; });
}

void close_gate_reference(const ConvGatesInput& s, float* z, const CloseGateSaved& saved) {
  over_tokens(s, [&](std::size_t at, std::size_t in, std::size_t c) {
    saved.g[at] += s.skip[c] * saved.v[at];
    z[at] = saved.g[at] * s.u[in + s.C];
  });
}

void close_gate_backward_reference(const ConvGatesInput& s, const CloseGateSaved& saved, const float* dout,
                                   const CloseGateGradients& to) {
  std::vector<double> sums(s.C, 0.0);
  over_tokens(s, [&](std::size_t at, std::size_t in, std::size_t c) {
    to.dy[at] = dout[at] * s.u[in + s.C];
    to.du[in + s.C] = dout[at] * saved.g[at];
    sums[c] += static_cast<double>(to.dy[at]) * saved.v[at];
  });
  for (std::size_t c = 0; c < s.C; ++c) to.dskip[c] = static_cast<float>(sums[c]);
}

void open_gate_backward_reference(const ConvGatesInput& s, const float* dy, const float* dv, float* du) {
  over_tokens(s, [&](std::size_t at, std::size_t in, std::size_t c) {
    const float w = dv[at] + s.skip[c] * dy[at];
    du[in] = w * s.u[in + 2 * s.C];
    du[in + 2 * s.C] = w * s.u[in];
  });
}

}  // namespace mneme::kernels
