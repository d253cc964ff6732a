#include "kernels/dense/mlp.h"

#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dense/mlp.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dense/matmul-inl.h"
#include "kernels/dense/outer_products-inl.h"
#include "kernels/simd/row_sums-inl.h"
#include "kernels/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Tokens of a block: its hidden values fit into the second-level cache twice, and it is a whole number of tiles.
inline std::size_t mlp_block(const MlpInput& in) { return in.H <= 1024 ? 2 * kRowBlock : kRowBlock; }

void mlp_simd(const MlpInput& in, float* out, const MlpSaved& saved) {
  Panels first(in.D, in.H), second(in.H, in.D);
  first.pack_transposed(in.weight1, in.D, in.bias1);
  second.pack_transposed(in.weight2, in.H, in.bias2);
  const std::size_t block = mlp_block(in);
  const AlignedFloats g(std::min(block, in.T) * in.H, kUnset);
  for (std::size_t t = 0; t < in.T; t += block) {
    const std::size_t tokens = std::min(block, in.T - t);
    float* hidden = saved.h + t * in.H;
    multiply({in.x + t * in.D, in.D, 1}, tokens, first, hidden, in.H);
    for_row(tokens * in.H, [&](auto d, std::size_t i) {
      const auto x = hn::LoadU(d, hidden + i);
      hn::StoreU(hn::Mul(x, normal(d, x).distribution), d, g + i);
    });
    multiply({g, in.H, 1}, tokens, second, out + t * in.D, in.D);
  }
}

void mlp_backward_simd(const MlpInput& in, const MlpSaved& saved, const float* all_dout, const MlpGradients& to) {
  Panels first(in.H, in.D), second(in.D, in.H);
  first.pack(in.weight1, in.D);
  second.pack(in.weight2, in.H);
  const std::size_t block = mlp_block(in), pitch = spread(in.H), room = std::min(block, in.T) * pitch;
  const AlignedFloats g(room, kUnset), dh(room, kUnset);
  OuterProducts products1(in.T, in.H, in.D, to.dweight1, in.D), products2(in.T, in.D, in.H, to.dweight2, in.H);
  for (std::size_t t = 0; t < in.T; t += block) {
    const std::size_t tokens = std::min(block, in.T - t);
    const float *dout = all_dout + t * in.D, *x = in.x + t * in.D;
    multiply({dout, in.D, 1}, tokens, second, dh, pitch);
    for (std::size_t s = 0; s < tokens; ++s) {
      const float* hidden = saved.h + (t + s) * in.H;
      float *value_to = g + s * pitch, *gradient_to = dh + s * pitch;
      for_row(in.H, [&](auto d, std::size_t i) {
        const auto value = hn::LoadU(d, hidden + i);
        const auto at = normal(d, value);
        hn::StoreU(hn::Mul(value, at.distribution), d, value_to + i);
        hn::StoreU(hn::Mul(hn::LoadU(d, gradient_to + i), hn::MulAdd(value, at.density, at.distribution)), d,
                   gradient_to + i);
      });
    }
    products2.add(dout, in.D, g, pitch, tokens);
    products1.add(dh, pitch, x, in.D, tokens);
    add_rows(dout, in.D, tokens, in.D, to.dbias2);
    add_rows(dh, pitch, tokens, in.H, to.dbias1);
    multiply({dh, pitch, 1}, tokens, first, to.dx + t * in.D, in.D);
  }
  products1.finish();
  products2.finish();
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(mlp_simd);
HWY_EXPORT(mlp_backward_simd);

void mlp(const MlpInput& in, float* out, const MlpSaved& saved) {
  if (use_reference()) return mlp_reference(in, out, saved);
  HWY_DYNAMIC_DISPATCH(mlp_simd)(in, out, saved);
}

void mlp_backward(const MlpInput& in, const MlpSaved& saved, const float* dout, const MlpGradients& gradients) {
  if (use_reference()) return mlp_backward_reference(in, saved, dout, gradients);
  HWY_DYNAMIC_DISPATCH(mlp_backward_simd)(in, saved, dout, gradients);
}

}  // namespace mneme::kernels
#endif
