#include <cmath>
#include <vector>

#include "kernels/scan/token_step.h"

namespace mneme::kernels {

void selective_step_reference(const SelectiveScanInput& in, const float* before, float* after, float* out) {
  for (std::size_t b = 0; b < in.B; ++b)
    for (std::size_t e = 0; e < in.E; ++e) {
      const double pre = in.pre[b][e], u = in.u[b][e], delta = pre > 20 ? pre : std::log1p(std::exp(pre));
      double y = in.D[e] * u;
      for (std::size_t n = 0; n < in.N; ++n) {
        const std::size_t at = (b * in.E + e) * in.N + n;
        const double h = std::exp(delta * in.A[e * in.N + n]) * before[at] + delta * u * in.Bm[b][n];
        after[at] = static_cast<float>(h);
        y += h * in.Cm[b][n];
      }
      const double z = in.z.data ? in.z[b][e] : 0.0;
      out[b * in.E + e] = static_cast<float>(in.z.data ? y * z / (1 + std::exp(-z)) : y);
    }
}

void matrix_step_reference(const MatrixStepInput& in, const float* before, float* after, float* out) {
  for (std::size_t r = 0; r < in.R; ++r)
    for (std::size_t v = 0; v < in.V; ++v) {
      std::vector<double> S(in.K);
      double recalled = 0, o = 0;
      for (std::size_t k = 0; k < in.K; ++k) {
        S[k] = before[(r * in.K + k) * in.V + v] * (in.decay ? in.decay[r * in.K + k] : 1.0);
        recalled += in.k[r * in.K + k] * S[k];
      }
      const double value = in.v[r * in.V + v], e = in.beta ? in.beta[r] * (value - recalled) : value;
      for (std::size_t k = 0; k < in.K; ++k) {
        S[k] += in.k[r * in.K + k] * e;
        o += S[k] * in.q[r * in.K + k];
        after[(r * in.K + k) * in.V + v] = static_cast<float>(S[k]);
      }
      out[r * in.V + v] = static_cast<float>(o);
    }
}

void diagonal_step_reference(const DiagonalStepInput& in, const float* before, float* after, float* out) {
  for (std::size_t b = 0; b < in.B; ++b)
    for (std::size_t h = 0; h < in.H; ++h) {
      const double x = in.x[b * in.H + h];
      double y = 0;
      for (std::size_t k = 0; k < in.n; ++k) {
        const std::size_t of = 2 * (h * in.n + k), at = 2 * ((b * in.H + h) * in.n + k);
        const double old[2] = {before[at], before[at + 1]};
        for (const std::size_t part : {0, 1}) {
          const double along = in.along[of + part] + static_cast<double>(in.along_rest[of + part]),
                       across = in.across[of + part] + static_cast<double>(in.across_rest[of + part]),
                       s = along * old[part] + across * old[1 - part] + in.input[of + part] * x;
          y += in.output[of + part] * s;
          after[at + part] = static_cast<float>(s);
        }
      }
      out[b * in.H + h] = static_cast<float>(y);
    }
}

}  // namespace mneme::kernels
