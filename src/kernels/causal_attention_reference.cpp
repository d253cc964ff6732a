#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/causal_attention.h"

namespace mneme::kernels {
namespace {

double dot(const float* a, const float* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

// Calls visit(first element of the head's query at token 0, of its output at token 0, index into lse).
template <class Visit>
void for_each_head(const AttentionShape& s, Visit visit) {
  const std::size_t D = s.H * s.d;
  for (std::size_t b = 0; b < s.B; ++b)
    for (std::size_t h = 0; h < s.H; ++h) visit(b * s.L * 3 * D + h * s.d, b * s.L * D + h * s.d, (b * s.H + h) * s.L);
}

}  // namespace

void causal_attention_reference(const AttentionShape& s, const float* qkv, float* out, float* lse) {
  const std::size_t D = s.H * s.d, row = 3 * D;
  std::vector<double> score(s.L);
  for_each_head(s, [&](std::size_t in, std::size_t to, std::size_t at) {
    for (std::size_t t = 0; t < s.L; ++t) {
      double largest = -INFINITY, sum = 0;
      for (std::size_t u = 0; u <= t; ++u) {
        score[u] = s.scale * dot(qkv + in + t * row, qkv + in + D + u * row, s.d);
        largest = std::max(largest, score[u]);
      }
      for (std::size_t u = 0; u <= t; ++u) sum += std::exp(score[u] - largest);
      lse[at + t] = static_cast<float>(largest + std::log(sum));
      for (std::size_t i = 0; i < s.d; ++i) {
        double y = 0;
        for (std::size_t u = 0; u <= t; ++u) y += std::exp(score[u] - largest) / sum * qkv[in + 2 * D + u * row + i];
        out[to + t * D + i] = static_cast<float>(y);
      }
    }
  });
}

void causal_attention_backward_reference(const AttentionShape& s, const float* qkv, const float* lse,
                                         const float* dout, float* dqkv) {
  const std::size_t D = s.H * s.d, row = 3 * D;
  std::vector<double> p(s.L), dp(s.L);
  std::vector<double> gradient(s.B * s.L * row, 0.0);
  for_each_head(s, [&](std::size_t in, std::size_t to, std::size_t at) {
    for (std::size_t t = 0; t < s.L; ++t) {
      const float *q = qkv + in + t * row, *dy = dout + to + t * D;
      double delta = 0;
      for (std::size_t u = 0; u <= t; ++u) {
        p[u] = std::exp(s.scale * dot(q, qkv + in + D + u * row, s.d) - lse[at + t]);
        dp[u] = dot(dy, qkv + in + 2 * D + u * row, s.d);
        delta += p[u] * dp[u];
      }
      for (std::size_t u = 0; u <= t; ++u) {
        const float* k = qkv + in + D + u * row;
        const double ds = s.scale * p[u] * (dp[u] - delta);
        for (std::size_t i = 0; i < s.d; ++i) {
          gradient[in + t * row + i] += ds * k[i];
          gradient[in + D + u * row + i] += ds * q[i];
          gradient[in + 2 * D + u * row + i] += p[u] * dy[i];
        }
      }
    }
  });
  for (std::size_t i = 0; i < gradient.size(); ++i) dqkv[i] = static_cast<float>(gradient[i]);
}

}  // namespace mneme::kernels
