#include <vector>

#include "kernels/scan/rwkv5.h"

namespace mneme::kernels {
namespace {

using Matrix = std::vector<double>;  // [N, N]

// The state before every token of one sequence and head.
std::vector<Matrix> states_of(const Rwkv5Input& in, std::size_t b, std::size_t h) {
  const auto& s = in.shape;
  std::vector<Matrix> states = {Matrix(s.N * s.N)};
  for (std::size_t t = 0; t + 1 < s.L; ++t) {
    const std::size_t at = ((b * s.L + t) * s.H + h) * s.N;
    Matrix next(s.N * s.N);
    for (std::size_t i = 0; i < s.N; ++i)
      for (std::size_t c = 0; c < s.N; ++c)
        next[i * s.N + c] = static_cast<double>(in.d[h * s.N + i]) * states[t][i * s.N + c] +
                            static_cast<double>(in.k[at + i]) * in.v[at + c];
    states.push_back(next);
  }
  return states;
}

}  // namespace

void rwkv5_reference(const Rwkv5Input& in, float* out, const Rwkv5Saved&) {
  const auto& s = in.shape;
  for (std::size_t b = 0; b < s.B; ++b)
    for (std::size_t h = 0; h < s.H; ++h) {
      const std::vector<Matrix> states = states_of(in, b, h);
      for (std::size_t t = 0; t < s.L; ++t) {
        const std::size_t at = ((b * s.L + t) * s.H + h) * s.N;
        for (std::size_t c = 0; c < s.N; ++c) {
          double sum = 0;
          for (std::size_t i = 0; i < s.N; ++i)
            sum += in.r[at + i] *
                   (states[t][i * s.N + c] + static_cast<double>(in.u[h * s.N + i]) * in.k[at + i] * in.v[at + c]);
          out[at + c] = static_cast<float>(sum);
        }
      }
    }
}

void rwkv5_backward_reference(const Rwkv5Input& in, const Rwkv5Saved&, const float* dout, const Rwkv5Gradients& out) {
  const auto& s = in.shape;
  for (std::size_t h = 0; h < s.H; ++h) {
    std::vector<double> dd(s.N), du(s.N);
    for (std::size_t b = 0; b < s.B; ++b) {
      const std::vector<Matrix> states = states_of(in, b, h);
      Matrix dS(s.N * s.N);  // of the state after the token
      for (std::size_t t = s.L; t-- > 0;) {
        const std::size_t at = ((b * s.L + t) * s.H + h) * s.N;
        std::vector<double> dr(s.N), dk(s.N), dv(s.N);
        for (std::size_t i = 0; i < s.N; ++i)
          for (std::size_t c = 0; c < s.N; ++c) {
            const double S = states[t][i * s.N + c], r = in.r[at + i], k = in.k[at + i], v = in.v[at + c];
            const double u = in.u[h * s.N + i], d = in.d[h * s.N + i], dy = dout[at + c];
            double& g = dS[i * s.N + c];
            dr[i] += (S + u * k * v) * dy;
            du[i] += r * k * v * dy;
            dk[i] += r * u * v * dy + g * v;
            dv[c] += r * u * k * dy + g * k;
            dd[i] += g * S;
            g = d * g + r * dy;
          }
        for (std::size_t i = 0; i < s.N; ++i) {
          out.dr[at + i] = static_cast<float>(dr[i]);
          out.dk[at + i] = static_cast<float>(dk[i]);
          out.dv[at + i] = static_cast<float>(dv[i]);
        }
      }
    }
    for (std::size_t i = 0; i < s.N; ++i) {
      out.dd[h * s.N + i] = static_cast<float>(dd[i]);
      out.du[h * s.N + i] = static_cast<float>(du[i]);
    }
  }
}

}  // namespace mneme::kernels
