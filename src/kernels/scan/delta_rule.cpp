#include "kernels/scan/delta_rule.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/simd/aligned_floats.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan/delta_rule.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/scan/delta_rule_passes-inl.h"
#include "kernels/simd/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Where the rows of one sequence and head are.
struct DeltaRows {
  const DeltaRuleInput& in;
  std::size_t b, h;

  std::size_t token(std::size_t t) const { return (b * in.shape.L + t) * in.shape.H + h; }
  std::size_t sub_step(std::size_t t, std::size_t j) const {
    return ((b * in.shape.L + t) * in.shape.n + j) * in.shape.H + h;
  }
  std::size_t state(std::size_t chunk) const {
    const std::size_t chunks = (in.shape.L + in.shape.chunk() - 1) / in.shape.chunk();
    return ((b * in.shape.H + h) * chunks + chunk) * in.shape.K * in.shape.V;
  }
  float decay(std::size_t t, std::size_t j) const {
    return in.g != nullptr && j == 0 ? std::exp(in.g[token(t)]) : 1.0F;
  }
};

// y = factor * x / sqrt(|x|^2 + 1e-6), or factor * x; returns what x was multiplied by apart from the factor.
float delta_direction(const float* x, std::size_t size, bool normalise, float factor, float* y) {
  const float inverse = normalise ? 1.0F / std::sqrt(row_dot(DeltaFloats(), x, x, size) + 1e-6F) : 1.0F;
  const float by = inverse * factor;
  for_row(size,
          [=](auto d, std::size_t i) HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, by)), d, y + i); });
  return inverse;
}

// dx from dy, for y of delta_direction.
void delta_pull_back(const float* y, const float* dy, std::size_t size, bool normalise, float factor, float inverse,
                     float* dx) {
  const float along = normalise ? row_dot(DeltaFloats(), y, dy, size) / factor : 0.0F;
  const float direct = inverse * factor, back = inverse * along;
  for_row(size, [=](auto d, std::size_t i) HWY_ATTR {
    const auto kept = hn::Mul(hn::Set(d, direct), hn::LoadU(d, dy + i));
    hn::StoreU(hn::NegMulAdd(hn::Set(d, back), hn::LoadU(d, y + i), kept), d, dx + i);
  });
}

void delta_rule_simd(const DeltaRuleInput& in, float* out, const DeltaRuleSaved& saved) {
  const auto& s = in.shape;
  const std::size_t lanes = hn::Lanes(DeltaFloats()), stride = whole_vectors(s.V, lanes),
                    Kp = whole_vectors(s.K, lanes);
  AlignedFloats scratch(7 * kMaxLanes + s.K * stride + 3 * Kp + 3 * stride);
  float *S = scratch.take(s.K * stride), *k = scratch.take(Kp), *k_before = scratch.take(Kp), *q = scratch.take(Kp);
  float *step = scratch.take(stride), *Sk = scratch.take(stride), *Sq = scratch.take(stride);
  for (std::size_t b = 0; b < s.B; ++b)
    for (std::size_t h = 0; h < s.H; ++h) {
      const DeltaRows rows{in, b, h};
      std::fill(S, S + s.K * stride, 0.0F);
      std::fill(k_before, k_before + Kp, 0.0F);
      std::fill(step, step + stride, 0.0F);
      for (std::size_t t = 0; t < s.L; ++t)
        for (std::size_t j = 0; j < s.n; ++j) {
          const std::size_t at = rows.sub_step(t, j);
          const bool read = j + 1 == s.n;
          delta_direction(in.k + at * s.K, s.K, in.normalise, 1.0F, k);
          if (read) delta_direction(in.q + rows.token(t) * s.K, s.K, in.normalise, in.scale, q);
          delta_sweep(DeltaAdvance{s.K, stride, S, rows.decay(t, j), k_before, step, k, q, Sk, Sq}, read,
                      in.g != nullptr && j == 0);
          if (saved.states != nullptr && j == 0 && t % s.chunk() == 0)
            for (std::size_t i = 0; i < s.K; ++i)
              std::memcpy(saved.states + rows.state(t / s.chunk()) + i * s.V, S + i * stride, s.V * sizeof(float));
          const float* v = in.v + at * s.V;
          float* errors = saved.errors == nullptr ? nullptr : saved.errors + at * s.V;
          const float beta = in.beta[at];
          for_row(s.V, [=](auto d, std::size_t c) HWY_ATTR {
            const auto error = hn::Sub(hn::LoadU(d, v + c), hn::LoadU(d, Sk + c));
            if (errors != nullptr) hn::StoreU(error, d, errors + c);
            hn::StoreU(hn::Mul(hn::Set(d, beta), error), d, step + c);
          });
          // The update itself is left to the next visit: S^T q after it is S^T q before it + (k . q) step.
          if (read) {
            const float kq = row_dot(DeltaFloats(), k, q, s.K);
            float* o = out + rows.token(t) * s.V;
            for_row(s.V, [=](auto d, std::size_t c) HWY_ATTR {
              hn::StoreU(hn::MulAdd(hn::Set(d, kq), hn::LoadU(d, step + c), hn::LoadU(d, Sq + c)), d, o + c);
            });
          }
          std::swap(k, k_before);
        }
    }
}

// What the backward pass keeps of the sub-steps of one chunk.
struct DeltaChunk {
  float* states;   // [sub-steps, K, stride]: before each sub-step, after its decay
  float* k;        // [sub-steps, Kp]
  float* inverse;  // [sub-steps] of k
  float* steps;    // [sub-steps, stride]: beta * error
};

// Rebuilds the chunk of `count` sub-steps that starts at token `start`.
void delta_rebuild(const DeltaRows& rows, const DeltaRuleSaved& saved, std::size_t start, std::size_t count,
                   std::size_t Kp, std::size_t stride, const DeltaChunk& chunk) {
  const DeltaRuleInput& in = rows.in;
  const auto& s = in.shape;
  const DeltaFloats d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < s.K; ++i)
    std::memcpy(chunk.states + i * stride, saved.states + rows.state(start / s.chunk()) + i * s.V, s.V * sizeof(float));
  for (std::size_t m = 0; m < count; ++m) {
    const std::size_t at = rows.sub_step(start + m / s.n, m % s.n);
    float *k = chunk.k + m * Kp, *step = chunk.steps + m * stride;
    chunk.inverse[m] = delta_direction(in.k + at * s.K, s.K, in.normalise, 1.0F, k);
    delta_direction(saved.errors + at * s.V, s.V, false, in.beta[at], step);
    if (m + 1 == count) break;
    const float* from = chunk.states + m * s.K * stride;
    float* to = chunk.states + (m + 1) * s.K * stride;
    const float decay = rows.decay(start + (m + 1) / s.n, (m + 1) % s.n);
    const auto factor = hn::Set(d, decay);
    for (std::size_t i = 0; i < s.K; ++i) {
      const auto along = hn::Set(d, decay * k[i]);
      for (std::size_t c = 0; c < stride; c += lanes)
        hn::StoreU(hn::MulAdd(along, hn::LoadU(d, step + c), hn::Mul(factor, hn::LoadU(d, from + i * stride + c))), d,
                   to + i * stride + c);
    }
  }
}

void delta_rule_backward_simd(const DeltaRuleInput& in, const DeltaRuleSaved& saved, const float* dout,
                              const DeltaRuleGradients& out) {
  const auto& s = in.shape;
  const DeltaFloats d;
  const std::size_t lanes = hn::Lanes(d), stride = whole_vectors(s.V, lanes), Kp = whole_vectors(s.K, lanes);
  const std::size_t most = s.chunk() * s.n, matrix = s.K * stride;
  AlignedFloats scratch(14 * kMaxLanes + (most + 1) * matrix + most * (Kp + stride) + whole_vectors(most, lanes) +
                        2 * Kp * lanes + 3 * Kp + 3 * stride + lanes);
  const DeltaChunk chunk{scratch.take(most * matrix), scratch.take(most * Kp), scratch.take(most),
                         scratch.take(most * stride)};
  float *dS = scratch.take(matrix), *dk_partial = scratch.take(Kp * lanes), *dq_partial = scratch.take(Kp * lanes);
  float *q = scratch.take(Kp), *dk = scratch.take(Kp), *dq = scratch.take(Kp);
  float *dout_row = scratch.take(stride), *dstep = scratch.take(stride), *de = scratch.take(stride),
        *dg = scratch.take(lanes);

  for (std::size_t b = 0; b < s.B; ++b)
    for (std::size_t h = 0; h < s.H; ++h) {
      const DeltaRows rows{in, b, h};
      std::fill(dS, dS + matrix, 0.0F);
      for (std::size_t start = (s.L - 1) / s.chunk() * s.chunk() + s.chunk(); start >= s.chunk();) {
        start -= s.chunk();
        const std::size_t count = (std::min(start + s.chunk(), s.L) - start) * s.n;
        delta_rebuild(rows, saved, start, count, Kp, stride, chunk);
        for (std::size_t m = count; m-- > 0;) {
          const std::size_t t = start + m / s.n, j = m % s.n, at = rows.sub_step(t, j);
          const bool read = j + 1 == s.n, decays = in.g != nullptr && j == 0;
          const float *k = chunk.k + m * Kp, *step = chunk.steps + m * stride, *error = saved.errors + at * s.V;
          float q_inverse = 1.0F;
          if (read) {
            q_inverse = delta_direction(in.q + rows.token(t) * s.K, s.K, in.normalise, in.scale, q);
            std::memcpy(dout_row, dout + rows.token(t) * s.V, s.V * sizeof(float));
          }
          delta_sweep(DeltaRetreatStep{s.K, stride, dS, q, dout_row, k, step, dstep, dk_partial}, read, false);
          out.dbeta[at] = row_dot(d, dstep, error, s.V);
          delta_direction(dstep, s.V, false, in.beta[at], de);
          std::memcpy(out.dv + at * s.V, de, s.V * sizeof(float));

          std::fill(dg, dg + lanes, 0.0F);
          delta_sweep(DeltaRetreatError{s.K, stride, chunk.states + m * matrix, dS, rows.decay(t, j), k, de, dout_row,
                                        dk_partial, dq_partial, dg},
                      read, decays);
          if (decays) out.dg[rows.token(t)] = hn::GetLane(hn::SumOfLanes(d, hn::LoadU(d, dg)));
          row_sums(d, dk_partial, s.K, dk);
          if (read) {
            row_sums(d, dq_partial, s.K, dq);
            // The read-out saw the state after the update, and so k and the step.
            const float through = row_dot(d, step, dout_row, s.V);
            for_row(s.K, [=](auto one, std::size_t i) HWY_ATTR {
              hn::StoreU(hn::MulAdd(hn::Set(one, through), hn::LoadU(one, k + i), hn::LoadU(one, dq + i)), one, dq + i);
            });
            delta_pull_back(q, dq, s.K, in.normalise, in.scale, q_inverse, out.dq + rows.token(t) * s.K);
          }
          delta_pull_back(k, dk, s.K, in.normalise, 1.0F, chunk.inverse[m], out.dk + at * s.K);
        }
      }
    }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(delta_rule_simd);
HWY_EXPORT(delta_rule_backward_simd);

void delta_rule(const DeltaRuleInput& in, float* out, const DeltaRuleSaved& saved) {
  if (use_reference()) return delta_rule_reference(in, out, saved);
  HWY_DYNAMIC_DISPATCH(delta_rule_simd)(in, out, saved);
}

void delta_rule_backward(const DeltaRuleInput& in, const DeltaRuleSaved& saved, const float* dout,
                         const DeltaRuleGradients& gradients) {
  if (use_reference()) return delta_rule_backward_reference(in, saved, dout, gradients);
  HWY_DYNAMIC_DISPATCH(delta_rule_backward_simd)(in, saved, dout, gradients);
}

}  // namespace mneme::kernels
#endif
