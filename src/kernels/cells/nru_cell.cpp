#include "kernels/cells/nru_cell.h"

#include <algorithm>
#include <cmath>

#include "kernels/simd/aligned_floats.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cells/nru_cell.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Scalar = hn::CappedTag<float, 1>;

constexpr float kEpsilon = 1e-5F, kSmallestNorm = 1e-12F;

// body(d, i) for whole vectors, then one by one.
template <class Body>
HWY_INLINE void for_each(std::size_t n, const Body& body) {
  const Floats d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) body(d, i);
  for (; i < n; ++i) body(Scalar(), i);
}

// The sum of term(d, i) over i.
template <class Term>
HWY_INLINE float sum_of(std::size_t n, const Term& term) {
  const Floats d;
  auto lanes = hn::Zero(d);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) lanes = hn::Add(lanes, term(d, i));
  float sum = hn::GetLane(hn::SumOfLanes(d, lanes));
  for (; i < n; ++i) sum += hn::GetLane(term(Scalar(), i));
  return sum;
}

// Asked so that a NaN stays.
template <class D, class V>
HWY_INLINE V positive(D d, V x) {
  return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), x);
}
HWY_INLINE float positive(float x) { return x <= 0.0F ? 0.0F : x; }

struct Normal {
  float mean, scale;
};

Normal normal_of(const float* p, std::size_t H) {
  const float mean = sum_of(H, [=](auto d, std::size_t i) { return hn::LoadU(d, p + i); }) / static_cast<float>(H);
  const float squares = sum_of(H, [=](auto d, std::size_t i) {
    const auto centred = hn::Sub(hn::LoadU(d, p + i), hn::Set(d, mean));
    return hn::Mul(centred, centred);
  });
  return {mean, 1.0F / std::sqrt(squares / static_cast<float>(H) + kEpsilon)};
}

template <class D>
HWY_INLINE hn::Vec<D> normalised(D d, const float* p, const Normal& normal) {
  return hn::Mul(hn::Sub(hn::LoadU(d, p), hn::Set(d, normal.mean)), hn::Set(d, normal.scale));
}

void nru_hidden_simd(const NruHiddenInput& in, float* all_q) {
  const std::size_t H = in.shape.H, W = in.shape.state();
  for (std::size_t r = 0; r < in.shape.R; ++r) {
    const float *p = in.p + r * H, *gain = in.gain, *shift = in.shift;
    float* q = all_q + r * W;
    if (gain) {
      const Normal normal = normal_of(p, H);
      for_each(H, [=](auto d, std::size_t i) {
        const auto y = hn::MulAdd(normalised(d, p + i, normal), hn::LoadU(d, gain + i), hn::LoadU(d, shift + i));
        hn::StoreU(positive(d, y), d, q + i);
      });
    } else {
      for_each(H, [=](auto d, std::size_t i) { hn::StoreU(positive(d, hn::LoadU(d, p + i)), d, q + i); });
    }
    std::copy(in.old + r * W + H, in.old + (r + 1) * W, q + H);
  }
}

void nru_hidden_backward_simd(const NruHiddenInput& in, const float* all_q, const float* all_dq,
                              const NruHiddenGradients& to) {
  const std::size_t H = in.shape.H, W = in.shape.state();
  for (std::size_t r = 0; r < in.shape.R; ++r) {
    const float *p = in.p + r * H, *q = all_q + r * W, *dq = all_dq + r * W, *gain = in.gain;
    float *dp = to.dp + r * H, *dgain = to.dgain, *dshift = to.dshift;
    std::fill_n(to.dold + r * W, H, 0.0F);
    std::copy(dq + H, dq + W, to.dold + r * W + H);
    for_each(H, [=](auto d, std::size_t i) {
      hn::StoreU(hn::IfThenElseZero(hn::Gt(hn::LoadU(d, q + i), hn::Zero(d)), hn::LoadU(d, dq + i)), d, dp + i);
    });
    if (!gain) continue;
    const Normal normal = normal_of(p, H);
    for_each(H, [=](auto d, std::size_t i) {
      const auto g = hn::LoadU(d, dp + i);
      hn::StoreU(hn::MulAdd(g, normalised(d, p + i, normal), hn::LoadU(d, dgain + i)), d, dgain + i);
      hn::StoreU(hn::Add(g, hn::LoadU(d, dshift + i)), d, dshift + i);
      hn::StoreU(hn::Mul(g, hn::LoadU(d, gain + i)), d, dp + i);
    });
    const float count = static_cast<float>(H);
    const float mean = sum_of(H, [=](auto d, std::size_t i) { return hn::LoadU(d, dp + i); }) / count;
    const float along =
        sum_of(H, [=](auto d, std::size_t i) { return hn::Mul(hn::LoadU(d, dp + i), normalised(d, p + i, normal)); }) /
        count;
    for_each(H, [=](auto d, std::size_t i) {
      const auto rest = hn::Sub(hn::LoadU(d, dp + i), hn::Set(d, mean));
      const auto g = hn::NegMulAdd(normalised(d, p + i, normal), hn::Set(d, along), rest);
      hn::StoreU(hn::Mul(g, hn::Set(d, normal.scale)), d, dp + i);
    });
  }
}

// v <- f(u0 u1^T), row by row.
void outer_product(const float* u, std::size_t s, bool relu, float* v) {
  const float* right = u + s;
  for (std::size_t i = 0; i < s; ++i) {
    const float left = u[i];
    float* row = v + i * s;
    for_each(s, [=](auto d, std::size_t j) {
      const auto x = hn::Mul(hn::Set(d, left), hn::LoadU(d, right + j));
      hn::StoreU(relu ? positive(d, x) : x, d, row + j);
    });
  }
}

// max(L5 norm, smallest), with the largest entry taken out so that no power underflows; `active` says whether the
// norm is the larger.
float divisor(const float* v, std::size_t M, bool& active) {
  float largest = 0.0F;
  for (std::size_t i = 0; i < M; ++i) largest = std::abs(v[i]) > largest ? std::abs(v[i]) : largest;
  active = false;
  if (largest == 0.0F) return kSmallestNorm;
  const float scale = 1.0F / largest;
  const float sum = sum_of(M, [=](auto d, std::size_t i) {
    const auto x = hn::Mul(hn::Abs(hn::LoadU(d, v + i)), hn::Set(d, scale)), square = hn::Mul(x, x);
    return hn::Mul(hn::Mul(square, square), x);
  });
  const float norm = largest * std::pow(sum, 0.2F);
  active = !(norm <= kSmallestNorm);
  return active ? norm : kSmallestNorm;
}

void nru_memory_simd(const NruMemoryInput& in, float* next) {
  const auto [R, H, M, k, s] = in.shape;
  const std::size_t W = in.shape.state();
  const AlignedFloats scratch(s * s, kUnset);
  for (std::size_t r = 0; r < R; ++r) {
    const float* o = in.o + r * in.shape.outputs();
    std::copy_n(in.q + r * W, W, next + r * W);
    float* m = next + r * W + H;
    for (const std::size_t which : {0, 1}) {
      outer_product(o + 2 * k + 2 * s * which, s, in.relu, scratch);
      for (std::size_t j = 0; j < k; ++j) {
        const float *v = scratch + j * M, gate = in.relu ? positive(o[which * k + j]) : o[which * k + j];
        bool active;
        const float share = (which == 0 ? gate : -gate) / (static_cast<float>(k) * divisor(v, M, active));
        for_each(M, [=](auto d, std::size_t i) {
          hn::StoreU(hn::MulAdd(hn::Set(d, share), hn::LoadU(d, v + i), hn::LoadU(d, m + i)), d, m + i);
        });
      }
    }
  }
}

// The gradient of one head's piece: v <- d loss / d v, where the loss sees gate * sign * v / divisor; returns that of
// the gate.
float piece_gradient(const float* dm, std::size_t M, float gate, float sign, bool relu, float* v) {
  bool active;
  const float scale = 1.0F / divisor(v, M, active);
  const float dgate = sign * scale * sum_of(M, [=](auto d, std::size_t i) {
                        return hn::Mul(hn::LoadU(d, dm + i), hn::LoadU(d, v + i));
                      });
  const float direct = sign * gate, through_norm = active ? gate * dgate : 0.0F;
  for_each(M, [=](auto d, std::size_t i) {
    const auto raw = hn::LoadU(d, v + i), w = hn::Mul(raw, hn::Set(d, scale)), square = hn::Mul(w, w);
    const auto power = hn::CopySign(hn::Mul(square, square), w);
    const auto g = hn::Sub(hn::Mul(hn::Set(d, direct), hn::LoadU(d, dm + i)), hn::Mul(hn::Set(d, through_norm), power));
    const auto scaled = hn::Mul(g, hn::Set(d, scale));
    hn::StoreU(relu ? hn::IfThenElseZero(hn::Gt(raw, hn::Zero(d)), scaled) : scaled, d, v + i);
  });
  return dgate;
}

void nru_memory_backward_simd(const NruMemoryInput& in, const float* dnext, float* all_d_o) {
  const auto [R, H, M, k, s] = in.shape;
  const std::size_t W = in.shape.state(), G = in.shape.outputs(), side = s;
  const AlignedFloats scratch(s * s, kUnset);
  for (std::size_t r = 0; r < R; ++r)
    for (const std::size_t which : {0, 1}) {
      const float *o = in.o + r * G, *u = o + 2 * k + 2 * s * which, *dm = dnext + r * W + H;
      float *d_o = all_d_o + r * G, *du = d_o + 2 * k + 2 * s * which;
      outer_product(u, s, in.relu, scratch);
      const float sign = (which == 0 ? 1.0F : -1.0F) / static_cast<float>(k);
      for (std::size_t j = 0; j < k; ++j) {
        const float gate = o[which * k + j];
        float* piece = scratch + j * M;
        const bool closed = in.relu && gate <= 0.0F;
        d_o[which * k + j] = 0.0F;
        if (closed)
          std::fill_n(piece, M, 0.0F);
        else
          d_o[which * k + j] = piece_gradient(dm, M, gate, sign, in.relu, piece);
      }
      std::fill_n(du + s, s, 0.0F);
      for (std::size_t i = 0; i < s; ++i) {
        const float *row = scratch + i * s, *right = u + s, left = u[i];
        float* dright = du + s;
        du[i] = sum_of(side,
                       [=](auto d, std::size_t j) { return hn::Mul(hn::LoadU(d, row + j), hn::LoadU(d, right + j)); });
        for_each(side, [=](auto d, std::size_t j) {
          hn::StoreU(hn::MulAdd(hn::Set(d, left), hn::LoadU(d, row + j), hn::LoadU(d, dright + j)), d, dright + j);
        });
      }
    }
}

void nru_plain_simd(const NruPlainInput& in, float* next) {
  const std::size_t H = in.shape.H, M = in.shape.M, W = in.shape.state();
  for (std::size_t r = 0; r < in.shape.R; ++r) {
    const float *o = in.o + r * (H + 2 + 2 * M), *write = o + H + 2, *erase = write + M, *old = in.old + r * W + H;
    float *h = next + r * W, *m = h + H;
    const float alpha = positive(o[H]), beta = positive(o[H + 1]);
    for_each(H, [=](auto d, std::size_t i) { hn::StoreU(positive(d, hn::LoadU(d, o + i)), d, h + i); });
    for_each(M, [=](auto d, std::size_t i) {
      const auto written = hn::MulAdd(hn::Set(d, alpha), positive(d, hn::LoadU(d, write + i)), hn::LoadU(d, old + i));
      hn::StoreU(hn::NegMulAdd(hn::Set(d, beta), positive(d, hn::LoadU(d, erase + i)), written), d, m + i);
    });
  }
}

void nru_plain_backward_simd(const NruPlainInput& in, const float* dnext, const NruPlainGradients& to) {
  const std::size_t H = in.shape.H, M = in.shape.M, W = in.shape.state();
  for (std::size_t r = 0; r < in.shape.R; ++r) {
    const float *o = in.o + r * (H + 2 + 2 * M), *write = o + H + 2, *erase = write + M;
    const float *dh = dnext + r * W, *dm = dh + H;
    float *d_o = to.d_o + r * (H + 2 + 2 * M), *dwrite = d_o + H + 2, *derase = dwrite + M;
    std::fill_n(to.dold + r * W, H, 0.0F);
    std::copy_n(dm, M, to.dold + r * W + H);
    for_each(H, [=](auto d, std::size_t i) {
      hn::StoreU(hn::IfThenElseZero(hn::Gt(hn::LoadU(d, o + i), hn::Zero(d)), hn::LoadU(d, dh + i)), d, d_o + i);
    });
    const auto onto = [=](const float* vector) {
      return sum_of(M, [=](auto d, std::size_t i) {
        return hn::Mul(hn::LoadU(d, dm + i), positive(d, hn::LoadU(d, vector + i)));
      });
    };
    d_o[H] = o[H] > 0.0F ? onto(write) : 0.0F;
    d_o[H + 1] = o[H + 1] > 0.0F ? -onto(erase) : 0.0F;
    const float alpha = positive(o[H]), beta = positive(o[H + 1]);
    for_each(M, [=](auto d, std::size_t i) {
      const auto g = hn::LoadU(d, dm + i), zero = hn::Zero(d);
      hn::StoreU(hn::IfThenElseZero(hn::Gt(hn::LoadU(d, write + i), zero), hn::Mul(hn::Set(d, alpha), g)), d,
                 dwrite + i);
      hn::StoreU(hn::IfThenElseZero(hn::Gt(hn::LoadU(d, erase + i), zero), hn::Mul(hn::Set(d, -beta), g)), d,
                 derase + i);
    });
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(nru_hidden_simd);
HWY_EXPORT(nru_hidden_backward_simd);
HWY_EXPORT(nru_memory_simd);
HWY_EXPORT(nru_memory_backward_simd);
HWY_EXPORT(nru_plain_simd);
HWY_EXPORT(nru_plain_backward_simd);

void nru_hidden(const NruHiddenInput& in, float* q) {
  if (use_reference()) return nru_hidden_reference(in, q);
  HWY_DYNAMIC_DISPATCH(nru_hidden_simd)(in, q);
}

void nru_hidden_backward(const NruHiddenInput& in, const float* q, const float* dq,
                         const NruHiddenGradients& gradients) {
  if (use_reference()) return nru_hidden_backward_reference(in, q, dq, gradients);
  HWY_DYNAMIC_DISPATCH(nru_hidden_backward_simd)(in, q, dq, gradients);
}

void nru_memory(const NruMemoryInput& in, float* next) {
  if (use_reference()) return nru_memory_reference(in, next);
  HWY_DYNAMIC_DISPATCH(nru_memory_simd)(in, next);
}

void nru_memory_backward(const NruMemoryInput& in, const float* dnext, float* d_o) {
  if (use_reference()) return nru_memory_backward_reference(in, dnext, d_o);
  HWY_DYNAMIC_DISPATCH(nru_memory_backward_simd)(in, dnext, d_o);
}

void nru_plain(const NruPlainInput& in, float* next) {
  if (use_reference()) return nru_plain_reference(in, next);
  HWY_DYNAMIC_DISPATCH(nru_plain_simd)(in, next);
}

void nru_plain_backward(const NruPlainInput& in, const float* dnext, const NruPlainGradients& gradients) {
  if (use_reference()) return nru_plain_backward_reference(in, dnext, gradients);
  HWY_DYNAMIC_DISPATCH(nru_plain_backward_simd)(in, dnext, gradients);
}

}  // namespace mneme::kernels
#endif
