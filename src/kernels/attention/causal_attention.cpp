#include "kernels/attention/causal_attention.h"

#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/causal_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/attention/causal_attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

void attention_forward_simd(const AttentionInput& in, float* out, float* lse) { attention_forward(in, out, lse); }

void attention_backward_simd(const AttentionInput& in, const float* lse, const float* dout,
                             const AttentionGradients& gradients) {
  attention_backward(in, lse, dout, gradients);
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(attention_forward_simd);
HWY_EXPORT(attention_backward_simd);

void causal_attention(const AttentionInput& in, float* out, float* lse) {
  if (use_reference()) return causal_attention_reference(in, out, lse);
  HWY_DYNAMIC_DISPATCH(attention_forward_simd)(in, out, lse);
}

void causal_attention_backward(const AttentionInput& in, const float* lse, const float* dout,
                               const AttentionGradients& gradients) {
  if (use_reference()) return causal_attention_backward_reference(in, lse, dout, gradients);
  HWY_DYNAMIC_DISPATCH(attention_backward_simd)(in, lse, dout, gradients);
}

}  // namespace mneme::kernels
#endif
