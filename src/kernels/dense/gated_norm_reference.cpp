#include <cmath>
#include <vector>

#include "kernels/dense/gated_norm.h"

namespace mneme::kernels {
namespace {

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// One part of one token, in double.
struct Part {
  Part(const GatedNormInput& in, std::size_t t, std::size_t p) : normal(in.C), silu(in.C, 1.0), slope(in.C, 0.0) {
    const float* x = in.x + (t * in.P + p) * in.C;
    double squares = 0;
    for (std::size_t c = 0; c < in.C; ++c) {
      if (in.gate.data) {
        const double g = in.gate[t][p * in.C + c], s = logistic(g);
        silu[c] = g * s;
        slope[c] = s * (1.0 + g * (1.0 - s));
      }
      normal[c] = x[c] * (in.gate_before ? silu[c] : 1.0);
      squares += normal[c] * normal[c];
    }
    scale = 1.0 / std::sqrt(squares / static_cast<double>(in.C) + in.eps);
    for (double& value : normal) value *= scale;
  }

  std::vector<double> normal, silu, slope;
  double scale;
};

double weight_at(const GatedNormInput& in, std::size_t p, std::size_t c) {
  return in.weight ? in.weight[in.shared_weight ? c : p * in.C + c] : 1.0;
}

}  // namespace

void gated_norm_reference(const GatedNormInput& in, float* out) {
  for (std::size_t t = 0; t < in.T; ++t)
    for (std::size_t p = 0; p < in.P; ++p) {
      const Part part(in, t, p);
      for (std::size_t c = 0; c < in.C; ++c)
        out[(t * in.P + p) * in.C + c] =
            static_cast<float>(part.normal[c] * weight_at(in, p, c) * (in.gate_before ? 1.0 : part.silu[c]));
    }
}

void gated_norm_backward_reference(const GatedNormInput& in, const float* dout, const GatedNormGradients& to) {
  std::vector<double> dweight(in.weight_size(), 0.0), dnormal(in.C);
  for (std::size_t t = 0; t < in.T; ++t)
    for (std::size_t p = 0; p < in.P; ++p) {
      const Part part(in, t, p);
      const std::size_t at = (t * in.P + p) * in.C;
      double along = 0;
      for (std::size_t c = 0; c < in.C; ++c) {
        const double after = in.gate_before ? 1.0 : part.silu[c];
        dnormal[c] = dout[at + c] * weight_at(in, p, c) * after;
        along += dnormal[c] * part.normal[c] / static_cast<double>(in.C);
        dweight[in.shared_weight ? c : p * in.C + c] += dout[at + c] * part.normal[c] * after;
      }
      for (std::size_t c = 0; c < in.C; ++c) {
        const double du = part.scale * (dnormal[c] - part.normal[c] * along);
        to.dx[at + c] = static_cast<float>(in.gate_before ? du * part.silu[c] : du);
        if (!in.gate.data) continue;
        const double dsilu = in.gate_before ? du * in.x[at + c] : dout[at + c] * weight_at(in, p, c) * part.normal[c];
        to.dgate[at + c] = static_cast<float>(dsilu * part.slope[c]);
      }
    }
  if (in.weight)
    for (std::size_t i = 0; i < dweight.size(); ++i) to.dweight[i] = static_cast<float>(dweight[i]);
}

}  // namespace mneme::kernels
