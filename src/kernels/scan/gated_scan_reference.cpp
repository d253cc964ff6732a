#include <cmath>
#include <vector>

#include "kernels/scan/gated_scan.h"

namespace mneme::kernels {
namespace {

double decay_of(const GatedScanInput& in, std::size_t row, std::size_t h, std::size_t i) {
  switch (in.decay) {
    case Decay::none: return 1.0;
    case Decay::constant: return std::exp(static_cast<double>(in.g.data[h]));
    case Decay::head: return std::exp(static_cast<double>(in.g[row][h]));
    case Decay::channel: return std::exp(static_cast<double>(in.g[row][h / (in.H / in.G) * in.K + i]));
  }
  return 0.0;
}

// All states of one sequence and head: [L + 1, K, V], the first zero.
std::vector<double> states(const GatedScanInput& in, std::size_t b, std::size_t h) {
  const std::size_t size = in.K * in.V, group = h / (in.H / in.G);
  std::vector<double> S((in.L + 1) * size, 0.0);
  for (std::size_t t = 0; t < in.L; ++t) {
    const std::size_t row = b * in.L + t;
    const float *k = in.k[row] + group * in.K, *v = in.v[row] + h * in.V;
    for (std::size_t i = 0; i < in.K; ++i)
      for (std::size_t j = 0; j < in.V; ++j)
        S[(t + 1) * size + i * in.V + j] =
            decay_of(in, row, h, i) * S[t * size + i * in.V + j] + static_cast<double>(k[i]) * v[j] * in.weight(row, h);
  }
  return S;
}

}  // namespace

void gated_scan_reference(const GatedScanInput& in, float* out, const GatedScanSaved&) {
  for (std::size_t b = 0; b < in.B; ++b)
    for (std::size_t h = 0; h < in.H; ++h) {
      const std::vector<double> S = states(in, b, h);
      for (std::size_t t = 0; t < in.L; ++t) {
        const std::size_t row = b * in.L + t;
        const float* q = in.q[row] + h / (in.H / in.G) * in.K;
        for (std::size_t j = 0; j < in.V; ++j) {
          double sum = 0;
          for (std::size_t i = 0; i < in.K; ++i) sum += q[i] * S[((t + 1) * in.K + i) * in.V + j];
          out[(row * in.H + h) * in.V + j] = static_cast<float>(sum);
        }
      }
    }
}

void gated_scan_backward_reference(const GatedScanInput& in, const GatedScanSaved&, const float* dout,
                                   const GatedScanGradients& gradients) {
  const std::size_t rows = in.B * in.L, size = in.K * in.V;
  std::vector<double> dq(rows * in.G * in.K, 0.0), dk(dq.size(), 0.0), dchannel(dq.size(), 0.0),
      dhead(rows * in.H, 0.0);
  for (std::size_t b = 0; b < in.B; ++b)
    for (std::size_t h = 0; h < in.H; ++h) {
      const std::size_t group = h / (in.H / in.G);
      const std::vector<double> S = states(in, b, h);
      std::vector<double> dS(size, 0.0);
      for (std::size_t t = in.L; t-- > 0;) {
        const std::size_t row = b * in.L + t;
        const float *q = in.q[row] + group * in.K, *k = in.k[row] + group * in.K, *v = in.v[row] + h * in.V;
        const float* grad = dout + (row * in.H + h) * in.V;
        std::vector<double> dv(in.V, 0.0);
        const double w = in.weight(row, h);
        double dw = 0;
        for (std::size_t i = 0; i < in.K; ++i) {
          const std::size_t key = (row * in.G + group) * in.K + i;
          const double a = decay_of(in, row, h, i);
          double dg = 0;
          for (std::size_t j = 0; j < in.V; ++j) {
            const std::size_t at = i * in.V + j;
            dq[key] += S[(t + 1) * size + at] * grad[j];
            dS[at] += static_cast<double>(q[i]) * grad[j];
            dk[key] += dS[at] * v[j] * w;
            dv[j] += dS[at] * k[i] * w;
            dw += dS[at] * k[i] * v[j];
            dS[at] *= a;
            dg += dS[at] * S[t * size + at];
          }
          dchannel[key] += dg;
          dhead[row * in.H + h] += dg;
        }
        for (std::size_t j = 0; j < in.V; ++j) gradients.dv[(row * in.H + h) * in.V + j] = static_cast<float>(dv[j]);
        if (in.w.data) gradients.dw[row * in.H + h] = static_cast<float>(dw);
      }
    }
  for (std::size_t i = 0; i < dq.size(); ++i) gradients.dq[i] = static_cast<float>(dq[i]);
  for (std::size_t i = 0; i < dk.size(); ++i) gradients.dk[i] = static_cast<float>(dk[i]);
  if (in.decay == Decay::channel)
    for (std::size_t i = 0; i < dchannel.size(); ++i) gradients.dg[i] = static_cast<float>(dchannel[i]);
  if (in.decay == Decay::head)
    for (std::size_t i = 0; i < dhead.size(); ++i) gradients.dg[i] = static_cast<float>(dhead[i]);
}

}  // namespace mneme::kernels
