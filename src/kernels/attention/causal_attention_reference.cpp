#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/attention/causal_attention.h"

namespace mneme::kernels {
namespace {

double dot(const float* a, const float* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

// Calls visit(row of q, index of the first token of its sequence, tokens that it may see, head).
template <class Visit>
void for_each_query(const CausalAttentionInput& in, Visit visit) {
  for (std::size_t r = 0; r < in.rows(); ++r) {
    const std::size_t at = in.positions ? static_cast<std::size_t>(in.positions[r]) : r, start = at / in.L * in.L;
    for (std::size_t h = 0; h < in.H; ++h) visit(r, start, at - start + 1, h);
  }
}

}  // namespace

void causal_attention_reference(const CausalAttentionInput& in, float* out, const CausalAttentionSaved& saved) {
  const std::size_t D = in.H * in.d;
  std::vector<double> score(in.L);
  for_each_query(in, [&](std::size_t r, std::size_t start, std::size_t past, std::size_t h) {
    const float* q = in.q.data + r * in.q.stride + h * in.d;
    double largest = -INFINITY, sum = 0;
    for (std::size_t u = 0; u < past; ++u) {
      score[u] = in.scale * dot(q, in.k.data + (start + u) * in.k.stride + h * in.d, in.d);
      largest = std::max(largest, score[u]);
    }
    for (std::size_t u = 0; u < past; ++u) sum += std::exp(score[u] - largest);
    saved.lse[r * in.H + h] = static_cast<float>(largest + std::log(sum));
    for (std::size_t i = 0; i < in.d; ++i) {
      double y = 0;
      for (std::size_t u = 0; u < past; ++u)
        y += std::exp(score[u] - largest) / sum * in.v.data[(start + u) * in.v.stride + h * in.d + i];
      out[r * D + h * in.d + i] = static_cast<float>(y);
    }
  });
}

void causal_attention_backward_reference(const CausalAttentionInput& in, const CausalAttentionSaved& saved,
                                         const float* dout, const CausalAttentionGradients& gradients) {
  const std::size_t D = in.H * in.d;
  std::vector<double> p(in.L), dp(in.L), dq(in.rows() * D), dk(in.B * in.L * D), dv(in.B * in.L * D);
  for_each_query(in, [&](std::size_t r, std::size_t start, std::size_t past, std::size_t h) {
    const float *q = in.q.data + r * in.q.stride + h * in.d, *dy = dout + r * D + h * in.d;
    double delta = 0;
    for (std::size_t u = 0; u < past; ++u) {
      p[u] =
          std::exp(in.scale * dot(q, in.k.data + (start + u) * in.k.stride + h * in.d, in.d) - saved.lse[r * in.H + h]);
      dp[u] = dot(dy, in.v.data + (start + u) * in.v.stride + h * in.d, in.d);
      delta += p[u] * dp[u];
    }
    for (std::size_t u = 0; u < past; ++u) {
      const float* k = in.k.data + (start + u) * in.k.stride + h * in.d;
      const std::size_t to = (start + u) * D + h * in.d;
      const double ds = in.scale * p[u] * (dp[u] - delta);
      for (std::size_t i = 0; i < in.d; ++i) {
        dq[r * D + h * in.d + i] += ds * k[i];
        dk[to + i] += ds * q[i];
        dv[to + i] += p[u] * dy[i];
      }
    }
  });
  for (std::size_t i = 0; i < dq.size(); ++i)
    gradients.dq[i / D * gradients.stride_q + i % D] = static_cast<float>(dq[i]);
  for (std::size_t i = 0; i < dk.size(); ++i) {
    const std::size_t to = i / D * gradients.stride_kv + i % D;
    gradients.dk[to] = static_cast<float>(dk[i]);
    gradients.dv[to] = static_cast<float>(dv[i]);
  }
}

}  // namespace mneme::kernels
