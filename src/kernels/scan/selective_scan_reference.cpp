#include <cmath>
#include <vector>

#include "kernels/scan/selective_scan.h"

namespace mneme::kernels {
namespace {

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }

// One (sequence, channel) at a time, with all its states.
struct Lane {
  std::vector<double> h;  // [L + 1, N], h[0] = 0
  std::vector<double> y;  // [L], before the gate
};

Lane run(const SelectiveScanInput& in, std::size_t b, std::size_t e) {
  Lane lane{std::vector<double>((in.L + 1) * in.N, 0.0), std::vector<double>(in.L)};
  for (std::size_t t = 0; t < in.L; ++t) {
    const std::size_t row = b * in.L + t;
    const double delta = softplus(in.pre[row][e]), u = in.u[row][e];
    double y = in.D[e] * u;
    for (std::size_t n = 0; n < in.N; ++n) {
      const double before = lane.h[t * in.N + n];
      const double h = std::exp(delta * in.A[e * in.N + n]) * before + delta * u * in.Bm[row][n];
      lane.h[(t + 1) * in.N + n] = h;
      y += h * in.Cm[row][n];
    }
    lane.y[t] = y;
  }
  return lane;
}

}  // namespace

void selective_scan_reference(const SelectiveScanInput& in, float* out, const SelectiveScanSaved&) {
  for (std::size_t b = 0; b < in.B; ++b)
    for (std::size_t e = 0; e < in.E; ++e) {
      const Lane lane = run(in, b, e);
      for (std::size_t t = 0; t < in.L; ++t) {
        const std::size_t row = b * in.L + t;
        const double z = in.z.data ? in.z[row][e] : 0.0;
        out[row * in.E + e] = static_cast<float>(lane.y[t] * (in.z.data ? z * sigmoid(z) : 1.0));
      }
    }
}

void selective_scan_backward_reference(const SelectiveScanInput& in, const SelectiveScanSaved&, const float* dout,
                                       const SelectiveScanGradients& gradients) {
  std::vector<double> dA(in.E * in.N, 0.0), dD(in.E, 0.0);
  std::vector<double> dB(in.B * in.L * in.N, 0.0), dC(in.B * in.L * in.N, 0.0);
  for (std::size_t b = 0; b < in.B; ++b)
    for (std::size_t e = 0; e < in.E; ++e) {
      const Lane lane = run(in, b, e);
      std::vector<double> g(in.N, 0.0);
      for (std::size_t t = in.L; t-- > 0;) {
        const std::size_t row = b * in.L + t;
        const double pre = in.pre[row][e], delta = softplus(pre), u = in.u[row][e];
        double gy = dout[row * in.E + e];
        if (in.z.data) {
          const double z = in.z[row][e], s = sigmoid(z);
          gradients.dz[row * in.E + e] = static_cast<float>(gy * lane.y[t] * s * (1 + z * (1 - s)));
          gy *= z * s;
        }
        double q = 0, ddelta = 0;
        for (std::size_t n = 0; n < in.N; ++n) {
          const double A = in.A[e * in.N + n], a = std::exp(delta * A);
          g[n] += gy * in.Cm[row][n];
          dC[row * in.N + n] += gy * lane.h[(t + 1) * in.N + n];
          dB[row * in.N + n] += g[n] * delta * u;
          q += g[n] * in.Bm[row][n];
          g[n] *= a;
          const double m = g[n] * lane.h[t * in.N + n];
          ddelta += m * A;
          dA[e * in.N + n] += m * delta;
        }
        gradients.du[row * in.E + e] = static_cast<float>(delta * q + in.D[e] * gy);
        gradients.dpre[row * in.E + e] = static_cast<float>((u * q + ddelta) * sigmoid(pre));
        dD[e] += gy * u;
      }
    }
  for (std::size_t i = 0; i < dA.size(); ++i) gradients.dA[i] = static_cast<float>(dA[i]);
  for (std::size_t e = 0; e < in.E; ++e) gradients.dD[e] = static_cast<float>(dD[e]);
  for (std::size_t i = 0; i < dB.size(); ++i) gradients.dBm[i] = static_cast<float>(dB[i]);
  for (std::size_t i = 0; i < dC.size(); ++i) gradients.dCm[i] = static_cast<float>(dC[i]);
}

}  // namespace mneme::kernels
