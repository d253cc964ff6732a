// token_blend: several blends of every token with its predecessor, as the RWKV family takes its streams.
//
//   y_m[b, t, c] = x[b, t, c] + share_m[c] * (x[b, t-1, c] - x[b, t, c]),   x[b, -1, c] = 0;   m < M <= kMostBlends
// x, y_m, dx, dy_m [B, L, C], share_m, dshare_m [C]: float32, contiguous. Outputs are overwritten and must not alias
// inputs. Backward writes dx, and dshare_m as sums over the tokens of a sequence in float32 and over sequences in
// double, in order.
#pragma once

#include <array>
#include <cstddef>

namespace mneme::kernels {

inline constexpr std::size_t kMostBlends = 8;

template <class T>
using PerBlend = std::array<T, kMostBlends>;

struct TokenBlendInput {
  std::size_t B, L, C, M;
  const float* x;
  PerBlend<const float*> share;
};

struct TokenBlendGradients {
  float* dx;
  PerBlend<float*> dshare;
};

// out are the y_m above, dout their gradients.
void token_blend(const TokenBlendInput& in, const PerBlend<float*>& out);
void token_blend_backward(const TokenBlendInput& in, const PerBlend<const float*>& dout,
                          const TokenBlendGradients& gradients);

void token_blend_reference(const TokenBlendInput& in, const PerBlend<float*>& out);
void token_blend_backward_reference(const TokenBlendInput& in, const PerBlend<const float*>& dout,
                                    const TokenBlendGradients& gradients);

}  // namespace mneme::kernels
