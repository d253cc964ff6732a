#include <cmath>
#include <vector>

#include "kernels/scan/rwkv7.h"

namespace mneme::kernels {
namespace {

using Vector = std::vector<double>;

struct History {
  std::vector<Vector> states;    // [L + 1][N * N]: before every token, and after the last
  std::vector<Vector> recalled;  // [L][N]

  History(const Rwkv7Input& in, std::size_t sequence, std::size_t head) {
    const auto& s = in.shape;
    states.emplace_back(s.N * s.N);
    for (std::size_t t = 0; t < s.L; ++t) {
      const std::size_t at = ((sequence * s.L + t) * s.H + head) * s.N;
      Vector p(s.N), next(s.N * s.N);
      for (std::size_t i = 0; i < s.N; ++i)
        for (std::size_t c = 0; c < s.N; ++c) p[c] += states[t][i * s.N + c] * in.a[at + i];
      for (std::size_t i = 0; i < s.N; ++i)
        for (std::size_t c = 0; c < s.N; ++c)
          next[i * s.N + c] = std::exp(static_cast<double>(in.w[at + i])) * states[t][i * s.N + c] -
                              in.b[at + i] * p[c] + static_cast<double>(in.k[at + i]) * in.v[at + c];
      states.push_back(next);
      recalled.push_back(p);
    }
  }
};

void store(const Vector& from, float* to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<float>(from[i]);
}

}  // namespace

void rwkv7_reference(const Rwkv7Input& in, float* out, const Rwkv7Saved&) {
  const auto& s = in.shape;
  for (std::size_t b = 0; b < s.B; ++b)
    for (std::size_t h = 0; h < s.H; ++h) {
      const History history(in, b, h);
      for (std::size_t t = 0; t < s.L; ++t) {
        const std::size_t at = ((b * s.L + t) * s.H + h) * s.N;
        Vector sum(s.N);
        for (std::size_t i = 0; i < s.N; ++i)
          for (std::size_t c = 0; c < s.N; ++c) sum[c] += history.states[t + 1][i * s.N + c] * in.r[at + i];
        store(sum, out + at);
      }
    }
}

void rwkv7_backward_reference(const Rwkv7Input& in, const Rwkv7Saved&, const float* dout, const Rwkv7Gradients& out) {
  const auto& s = in.shape;
  for (std::size_t sequence = 0; sequence < s.B; ++sequence)
    for (std::size_t h = 0; h < s.H; ++h) {
      const History history(in, sequence, h);
      Vector dS(s.N * s.N);  // of the state after the token
      for (std::size_t t = s.L; t-- > 0;) {
        const std::size_t at = ((sequence * s.L + t) * s.H + h) * s.N;
        const Vector &before = history.states[t], &after = history.states[t + 1], &p = history.recalled[t];
        Vector dr(s.N), dw(s.N), dk(s.N), dv(s.N), da(s.N), db(s.N), dp(s.N);
        for (std::size_t i = 0; i < s.N; ++i)
          for (std::size_t c = 0; c < s.N; ++c) {
            double& g = dS[i * s.N + c];
            const double g_out = dout[at + c], decay = std::exp(static_cast<double>(in.w[at + i]));
            dr[i] += after[i * s.N + c] * g_out;
            g += in.r[at + i] * g_out;
            dw[i] += g * decay * before[i * s.N + c];
            db[i] -= g * p[c];
            dp[c] -= g * in.b[at + i];
            dk[i] += g * in.v[at + c];
            dv[c] += g * in.k[at + i];
          }
        for (std::size_t i = 0; i < s.N; ++i)
          for (std::size_t c = 0; c < s.N; ++c) {
            double& g = dS[i * s.N + c];
            da[i] += before[i * s.N + c] * dp[c];
            g = std::exp(static_cast<double>(in.w[at + i])) * g + in.a[at + i] * dp[c];
          }
        store(dr, out.dr + at);
        store(dw, out.dw + at);
        store(dk, out.dk + at);
        store(dv, out.dv + at);
        store(da, out.da + at);
        store(db, out.db + at);
      }
    }
}

}  // namespace mneme::kernels
