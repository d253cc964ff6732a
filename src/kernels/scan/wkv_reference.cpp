#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/scan/wkv.h"

namespace mneme::kernels {
namespace {

// The weights of tokens 0..t in y[t]: a softmax over (t-1-i) w + k_i, with u + k_t for the newest.
std::vector<double> weights(const float* k, std::size_t stride, std::size_t t, double w, double u) {
  std::vector<double> p(t + 1);
  for (std::size_t i = 0; i < t; ++i) p[i] = static_cast<double>(t - 1 - i) * w + k[i * stride];
  p[t] = u + k[t * stride];
  const double maximum = *std::max_element(p.begin(), p.end());
  double sum = 0;
  for (double& value : p) sum += value = std::exp(value - maximum);
  for (double& value : p) value /= sum;
  return p;
}

}  // namespace

void wkv_reference(const WkvInput& a, float* out, const WkvSaved&) {
  for (std::size_t b = 0; b < a.B; ++b)
    for (std::size_t c = 0; c < a.C; ++c) {
      const float* k = a.k + b * a.L * a.C + c;
      const float* v = a.v + b * a.L * a.C + c;
      for (std::size_t t = 0; t < a.L; ++t) {
        const std::vector<double> p = weights(k, a.C, t, a.w[c], a.u[c]);
        double y = 0;
        for (std::size_t i = 0; i <= t; ++i) y += p[i] * v[i * a.C];
        out[(b * a.L + t) * a.C + c] = static_cast<float>(y);
      }
    }
}

void wkv_backward_reference(const WkvInput& a, const WkvSaved&, const float* dout, const WkvGradients& to) {
  for (std::size_t c = 0; c < a.C; ++c) {
    double dw = 0, du = 0;
    for (std::size_t b = 0; b < a.B; ++b) {
      const std::size_t first = b * a.L * a.C + c;
      std::vector<double> dk(a.L), dv(a.L);
      for (std::size_t t = 0; t < a.L; ++t) {
        const std::vector<double> p = weights(a.k + first, a.C, t, a.w[c], a.u[c]);
        double y = 0;
        for (std::size_t i = 0; i <= t; ++i) y += p[i] * a.v[first + i * a.C];
        const double dy = dout[first + t * a.C];
        for (std::size_t i = 0; i <= t; ++i) {
          const double dlogit = p[i] * (a.v[first + i * a.C] - y) * dy;
          dv[i] += p[i] * dy;
          dk[i] += dlogit;
          if (i == t)
            du += dlogit;
          else
            dw += static_cast<double>(t - 1 - i) * dlogit;
        }
      }
      for (std::size_t t = 0; t < a.L; ++t) {
        to.dk[first + t * a.C] = static_cast<float>(dk[t]);
        to.dv[first + t * a.C] = static_cast<float>(dv[t]);
      }
    }
    to.dw[c] = static_cast<float>(dw);
    to.du[c] = static_cast<float>(du);
  }
}

}  // namespace mneme::kernels
