#include "kernels/causal_attention.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/causal_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

// z[0, count) <- exp(z - shift), z[count, padded) <- 0; returns the sum.
float exponentials(float* z, std::size_t count, std::size_t padded, float shift) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto by = hn::Set(d, shift);
  auto sum = hn::Zero(d);
  std::size_t u = 0;
  for (; u + lanes <= count; u += lanes) {
    const auto e = hn::Exp(d, hn::Sub(hn::LoadU(d, z + u), by));
    sum = hn::Add(sum, e);
    hn::StoreU(e, d, z + u);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; u < count; ++u) {
    z[u] = std::exp(z[u] - shift);
    total += z[u];
  }
  std::fill(z + count, z + padded, 0.0F);
  return total;
}

float largest(const float* z, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t u = 0;
  float best = z[0];
  if (count >= lanes) {
    auto maximum = hn::LoadU(d, z);
    for (u = lanes; u + lanes <= count; u += lanes) maximum = hn::Max(maximum, hn::LoadU(d, z + u));
    best = hn::GetLane(hn::MaxOfLanes(d, maximum));
  }
  for (; u < count; ++u) best = std::max(best, z[u]);
  return best;
}

void multiply(float* z, std::size_t count, float factor) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto by = hn::Set(d, factor);
  std::size_t u = 0;
  for (; u + lanes <= count; u += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, z + u), by), d, z + u);
  for (; u < count; ++u) z[u] *= factor;
}

float dot(const float* a, const float* b, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  auto sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) sum = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sum);
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < count; ++i) total += a[i] * b[i];
  return total;
}

// dp <- scale * p * (dp - delta)
void score_gradient(const float* p, float* dp, std::size_t count, float delta, float scale) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t u = 0;
  for (; u + lanes <= count; u += lanes) {
    const auto centred = hn::Sub(hn::LoadU(d, dp + u), hn::Set(d, delta));
    hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(d, p + u), hn::Set(d, scale)), centred), d, dp + u);
  }
  for (; u < count; ++u) dp[u] = p[u] * scale * (dp[u] - delta);
}

}  // namespace

// Scores of a block of rows -> probabilities; what lies after a row's own token becomes zero.
void attention_softmax_block(float* scores, std::size_t first, std::size_t rows, std::size_t columns, float* out_lse) {
  for (std::size_t r = 0; r < rows; ++r) {
    float* z = scores + r * columns;
    const std::size_t past = first + r + 1;
    const float maximum = largest(z, past);
    const float sum = exponentials(z, past, columns, maximum);
    multiply(z, past, 1.0F / sum);
    out_lse[r] = maximum + std::log(sum);
  }
}

// The same from the known log-sums, and the gradient of the scores in place of that of the probabilities.
// A row of that gradient sums to zero. The mean that makes it so is taken over the probabilities as they came
// out here, which do not sum to one exactly: what a key shared by all tokens receives is then rounding alone.
void attention_gradient_block(float* scores, float* dp, std::size_t first, std::size_t rows, std::size_t columns,
                              const float* lse, float scale) {
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t past = first + r + 1;
    float *p = scores + r * columns, *gradient = dp + r * columns;
    const float sum = exponentials(p, past, columns, lse[r]);
    score_gradient(p, gradient, columns, dot(p, gradient, past) / sum, scale);
  }
}

}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(attention_softmax_block);
HWY_EXPORT(attention_gradient_block);

namespace {

// Rows of a block: few enough that scores stay in the first-level cache at the usual lengths, enough for the
// multiplications to be efficient. Half of the last block's square is wasted work.
constexpr std::size_t kBlock = 32;

// C = alpha * op(A) op(B) + beta * C, row-major with row strides.
void gemm(bool transpose_a, bool transpose_b, std::size_t m, std::size_t n, std::size_t k, float alpha, const float* a,
          std::size_t stride_a, const float* b, std::size_t stride_b, float beta, float* c, std::size_t stride_c) {
  cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans,
              static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, a, static_cast<int>(stride_a), b,
              static_cast<int>(stride_b), beta, c, static_cast<int>(stride_c));
}

}  // namespace

void causal_attention(const AttentionShape& s, const float* qkv, float* out, float* lse) {
  if (use_reference()) return causal_attention_reference(s, qkv, out, lse);
  const std::size_t D = s.H * s.d, row = 3 * D;
  std::vector<float> scores(kBlock * s.L);
  for (std::size_t b = 0; b < s.B; ++b) {
    for (std::size_t h = 0; h < s.H; ++h) {
      const float* q = qkv + b * s.L * row + h * s.d;
      float* y = out + b * s.L * D + h * s.d;
      for (std::size_t first = 0; first < s.L; first += kBlock) {
        const std::size_t rows = std::min(kBlock, s.L - first), columns = first + rows;
        gemm(false, true, rows, columns, s.d, s.scale, q + first * row, row, q + D, row, 0, scores.data(), columns);
        HWY_DYNAMIC_DISPATCH(attention_softmax_block)(scores.data(), first, rows, columns, lse + (b * s.H + h) * s.L + first);
        gemm(false, false, rows, s.d, columns, 1, scores.data(), columns, q + 2 * D, row, 0, y + first * D, D);
      }
    }
  }
}

void causal_attention_backward(const AttentionShape& s, const float* qkv, const float* lse, const float* dout,
                               float* dqkv) {
  if (use_reference()) return causal_attention_backward_reference(s, qkv, lse, dout, dqkv);
  const std::size_t D = s.H * s.d, row = 3 * D;
  std::vector<float> scores(kBlock * s.L), dp(kBlock * s.L);
  for (std::size_t b = 0; b < s.B; ++b) {
    for (std::size_t h = 0; h < s.H; ++h) {
      const float* q = qkv + b * s.L * row + h * s.d;
      float* dq = dqkv + b * s.L * row + h * s.d;
      const std::size_t at = b * s.L * D + h * s.d;
      // From the last block to the first, so that each key's row is written before it is added to.
      for (std::size_t block = (s.L + kBlock - 1) / kBlock; block-- > 0;) {
        const std::size_t first = block * kBlock, rows = std::min(kBlock, s.L - first), columns = first + rows;
        const float* dy = dout + at + first * D;
        const float beta = columns == s.L ? 0.0F : 1.0F;
        gemm(false, true, rows, columns, s.d, s.scale, q + first * row, row, q + D, row, 0, scores.data(), columns);
        gemm(false, true, rows, columns, s.d, 1, dy, D, q + 2 * D, row, 0, dp.data(), columns);
        HWY_DYNAMIC_DISPATCH(attention_gradient_block)
        (scores.data(), dp.data(), first, rows, columns, lse + (b * s.H + h) * s.L + first, s.scale);
        gemm(true, false, columns, s.d, rows, 1, scores.data(), columns, dy, D, beta, dq + 2 * D, row);
        gemm(true, false, columns, s.d, rows, 1, dp.data(), columns, q + first * row, row, beta, dq + D, row);
        gemm(false, false, rows, s.d, columns, 1, dp.data(), columns, q + D, row, 0, dq + first * row, row);
      }
    }
  }
}

}  // namespace mneme::kernels
#endif
